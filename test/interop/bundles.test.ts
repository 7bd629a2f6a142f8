import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { section } from '../support/guide.js';
import { installed, installPackage, runUntilExit, skipUnlessInteropInstalled } from './interop.js';

const CODEC = `
  import { openApiDescription, PlantCodec } from 'plant-store/adapters/api';
  import { MemoryPlantRepository } from 'plant-store/adapters/memory';
  import { CreatePlant } from 'plant-store/core';

  const codec = new PlantCodec(openApiDescription);
  const createPlant = new CreatePlant(new MemoryPlantRepository());
  const { newPlant } = codec.decode(new TextEncoder().encode('{"id":9007199254740993,"name":"Monstera"}'));
  createPlant.execute(newPlant).then(({ kind, plant }) => console.log(kind, codec.encodeNewPlant(plant)));`;

const KOA = `
  import { openApiDescription as description, PlantCodec } from 'plant-store/adapters/api';
  import { AdmissionControl, createApp } from 'plant-store/adapters/koa';
  import { MemoryPlantRepository } from 'plant-store/adapters/memory';
  import { StaticTokenVerifier } from 'plant-store/adapters/static-token';
  import { CreatePlant } from 'plant-store/core';

  const app = createApp({
    createPlant: new CreatePlant(new MemoryPlantRepository()),
    tokenVerifier: new StaticTokenVerifier(['secret-token']),
    codec: new PlantCodec(description),
    description,
    admission: new AdmissionControl({ maxPending: 1, maxPendingBytes: 1000 }),
    basePath: '',
    bodyLimitBytes: 1000,
    storageTimeoutMs: 1000,
    log: { info() {}, error: console.error },
  });
  const server = app.listen(0, '127.0.0.1', async () => {
    const headers = { Authorization: 'Bearer secret-token', 'Content-Type': 'application/json' };
    const url = 'http://127.0.0.1:' + server.address().port + '/plants';
    const response = await fetch(url, { method: 'POST', headers, body: '{"id":1,"name":"Monstera"}' });
    console.log(response.status, await response.text());
    server.close();
  });`;

const KNEX = `
  import { openRepository, sqliteDatabase } from 'plant-store/adapters/knex';
  import { CreatePlant } from 'plant-store/core';

  openRepository(sqliteDatabase({ path: process.argv[1] + '.db', timeoutMs: 1000 })).then(async (repository) => {
    console.log((await new CreatePlant(repository).execute({ id: 1n, name: 'Monstera' })).kind);
    await repository.close();
  });`;

/** Options of esbuild, from the guide. */
const ESM_REQUIRE =
  "--banner:js=import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
const CJS_URL = [
  '--define:import.meta.url=importMetaUrl',
  "--banner:js=const importMetaUrl = require('node:url').pathToFileURL(__filename).href;",
];
const EXTERNAL_KNEX = '--external:knex';

const CREATED = 'created {"id":9007199254740993,"name":"Monstera"}\n';

describe('An esbuild bundle', function () {
  this.timeout(60_000);
  let folder: string;
  before(function () {
    skipUnlessInteropInstalled(this);
    folder = installPackage();
  });

  for (const [what, program, format, options, output] of [
    ['the codec and the core', CODEC, 'esm', [], CREATED],
    ['the codec and the core', CODEC, 'cjs', [], CREATED],
    ['the codec and the core for browsers', CODEC, 'esm', ['--platform=browser'], CREATED],
    ['the Koa adapter', KOA, 'esm', [ESM_REQUIRE], '200 {"name":"Monstera"}\n'],
    ['the Koa adapter', KOA, 'cjs', [], '200 {"name":"Monstera"}\n'],
    ['the Knex adapter', KNEX, 'esm', [EXTERNAL_KNEX], 'created\n'],
    ['the Knex adapter', KNEX, 'cjs', [EXTERNAL_KNEX, ...CJS_URL], 'created\n'],
  ] as const) {
    it(`of ${what} in ${format} format creates a plant`, () => {
      const outfile = format === 'esm' ? 'bundle.mjs' : 'bundle.cjs';
      writeFileSync(join(folder, 'program.js'), program);
      const esbuild = [installed('.bin/esbuild'), '--log-level=error', '--bundle', '--platform=node'] as const;
      const bundled = runUntilExit(folder, [
        ...esbuild,
        `--format=${format}`,
        `--outfile=${outfile}`,
        ...options,
        'program.js',
      ]);
      expect([bundled.status, bundled.stderr]).to.deep.equal([0, '']);
      const { stdout, stderr } = runUntilExit(folder, [process.execPath, outfile]);
      expect([stdout, stderr]).to.deep.equal([output, '']);
    });
  }

  it('uses the options that the guide names', () => {
    const guide = section('docs/embed.md', 'Bundlers');
    for (const option of [ESM_REQUIRE, ...CJS_URL, EXTERNAL_KNEX]) expect(guide).to.include(option);
  });
});
