import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { Program } from '../support/executable.js';
import { codeBlocks } from '../support/guide.js';
import { inRepository } from '../support/paths.js';
import { skipUnless } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { installed, installPackage, outputOf, pack } from './interop.js';

const PUBLISHED = [
  /^(package\.json|(README|CHANGELOG|CONTRIBUTING)\.md|LICENSE|dist\/openapi\.json)$/,
  /^dist\/(core|adapters|composition|test\/contract)\/[\w/-]+(\.js|\.d\.ts)(\.map)?$/,
  // The sources that the source maps name.
  /^(core|adapters|composition|test\/contract)\/[\w/-]+(?<!\.test)\.ts$/,
  /^dist\/adapters\/driving\/http\/docs-page\/[\w/.-]+$/,
  /^docs\//,
];

/** Runs without Node's built-in modules. */
const PORTABLE = `
import { JsonPlantCodec } from '@plant-store/adapters/api';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { plantRepositoryContract } from '@plant-store/contract';
import { CreatePlant } from '@plant-store/core';

const open = async () => new MemoryPlantRepository();
for (const { run } of plantRepositoryContract({ open }).cases) await run();
const json = new TextEncoder().encode('{"id":9007199254740993,"name":"Monstera"}');
const { newPlant } = new JsonPlantCodec().decodeNewPlant(json);
const { kind, plant } = await new CreatePlant(await open()).execute(newPlant);
console.log(kind, String(plant.id));`;

const DENO = 'run --node-modules-dir=manual --no-remote --allow-all'.split(' ');
/** The entry points without Node's built-in modules on other runtimes. */
const RUNTIMES: Readonly<Record<string, readonly [string, ...string[]]>> = {
  'runs on Node 24': [installed('node-24/bin/node')],
  'runs on Deno': [installed('@deno/linux-x64-glibc/deno'), ...DENO],
  'runs on Bun': [installed('@oven/bun-linux-x64/bin/bun'), 'run'],
};

describe('The packed package', () => {
  let folder: string;
  before(() => {
    folder = installPackage();
    writeFileSync(join(folder, 'package.json'), '{ "type": "module", "dependencies": { "plant-store": "*" } }');
  });
  const run = (program: string, command: readonly [string, ...string[]] = [process.execPath]) => {
    writeFileSync(join(folder, 'program.js'), program);
    return outputOf(folder, [...command, 'program.js']);
  };

  it('contains code, types, mapped sources and documentation, and nothing else', () => {
    const root = join(folder, 'node_modules/plant-store');
    const paths = readdirSync(root, { recursive: true, encoding: 'utf8' });
    const files = paths.filter((path) => statSync(join(root, path)).isFile());
    expect(files.filter((file) => !PUBLISHED.some((pattern) => pattern.test(file)))).to.deep.equal([]);
    expect(files).to.include.members(['core/plant.ts', 'dist/core/plant.js.map', 'dist/core/plant.d.ts']);
  });

  it('has no install script, and is smaller than 1.3 MB', () => {
    const { scripts } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8'));
    expect(scripts).to.not.have.any.keys('preinstall', 'install', 'postinstall', 'prepare');
    expect(statSync(pack()).size).to.be.lessThan(1_300_000);
  });

  // The flags of users: `strict` alone, and the types of every library checked.
  const older = installed('typescript/bin/tsc');
  const newer = inRepository('node_modules/typescript/bin/tsc');
  for (const [title, compiler, module, moduleResolution, exactOptionalPropertyTypes] of [
    ['has types for TypeScript 5.9 in Node', older, 'nodenext', 'nodenext', false],
    ['has types for TypeScript 5.9 and bundlers, with exact optional properties', older, 'esnext', 'bundler', true],
    ['has types for TypeScript 7 in Node', newer, 'nodenext', 'nodenext', false],
    ['has types for TypeScript 7 in Node, with exact optional properties', newer, 'nodenext', 'nodenext', true],
    ['has types for TypeScript 7 with the module format node16', newer, 'node16', 'node16', false],
    ['has types for TypeScript 7 and bundlers', newer, 'esnext', 'bundler', false],
  ] as const) {
    it(title, () => {
      const options = { module, moduleResolution, exactOptionalPropertyTypes, target: 'es2022', lib: ['es2022'] };
      // Only the other entry points need types of Node and its libraries.
      for (const [file, types] of [
        ['core-consumer.ts', []],
        ['consumer.ts', ['node']],
      ] as const) {
        copyFileSync(inRepository(`test/interop/${file}`), join(folder, file));
        const compilerOptions = { ...options, noEmit: true, strict: true, skipLibCheck: false, types };
        writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
        outputOf(folder, [process.execPath, compiler, '-p', '.']);
      }
    });
  }

  for (const [title, command] of Object.entries(RUNTIMES))
    it(title, function () {
      skipUnless(this, existsSync(command[0]), command[0]);
      expect(run(PORTABLE, command)).to.equal('created 9007199254740993\n');
    });

  it('prints what the programs of the embedding guide state', () => {
    for (const { language, text } of codeBlocks(readFileSync(inRepository('docs/embed.md'), 'utf8'))) {
      if (language !== 'js') continue;
      const stated = [...text.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, output]) => `${output}\n`);
      expect(stated).to.have.lengthOf.at.least(1);
      expect(run(text)).to.equal(stated.join(''));
    }
  });

  describe('installed in an empty folder without optional dependencies', () => {
    const empty = temporaryFolder();
    before(() => outputOf(empty, ['npm', 'install', '--omit=optional', '--no-audit', '--no-fund', pack()]));
    const serve = (DATABASE_URL: string) =>
      new Program(empty, ['node_modules/.bin/plant-store', 'serve'], { PORT: '0', DATABASE_URL });

    it('serves from memory', async () => {
      const [, url = '', token] = await serve('memory:').waitForOutput(
        /^curl -i (\S+) -H 'Authorization: Bearer ([^']+)'/m,
      );
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
      const response = await fetch(url, { method: 'POST', headers, body: '{"id":1,"name":"Monstera"}' });
      expect([response.status, await response.json()]).to.deep.equal([200, { name: 'Monstera' }]);
    });

    it('prints the command that installs the driver of a server', async () => {
      for (const [scheme, driver] of Object.entries({ postgres: 'pg', mysql: 'mysql2' })) {
        const stderr = `plant-store: DATABASE_URL: the driver ${driver} is not installed: npm install ${driver}\n`;
        const result = await serve(`${scheme}://user:canary@127.0.0.1:1/plants`).result();
        expect(result).to.deep.equal({ exitCode: 78, stdout: '', stderr });
      }
    });

    it('uses node:sqlite for sqlite:, or prints both ways to use SQLite', async () => {
      const program = serve('sqlite:plants.db');
      if (isBuiltin('node:sqlite')) return expect(await program.port()).to.be.above(0);
      expect((await program.result()).exitCode).to.equal(78);
      return expect(program.stderr).to.match(
        /^plant-store: .*; use Node 22\.13 or newer, or install sqlite3 .* npm .*, pnpm .* Yarn, .*\n$/,
      );
    });
  });
});
