import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { skipUnless } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { bundle, installed, installPackage, outputOf, run, tarball } from './interop.js';

/** Patterns of the published files. Each matches at least one. */
const PUBLISHED = [
  /^(package\.json|(README|CHANGELOG|CONTRIBUTING)\.md|LICENSE|dist\/openapi\.json)$/,
  /^dist\/(core|adapters|composition|test\/contract)\/([\w-]+\/)*[\w-]+(\.js|\.d\.ts)(\.map)?$/,
  // Sources referenced by source maps.
  /^(core|adapters|composition|test\/contract)\/([\w-]+\/)*[\w-]+(?<!\.test)\.ts$/,
  // The documentation page.
  /^dist\/adapters\/driving\/koa\/docs-page\/([\w-]+\/)?[\w.-]+$/,
  // Guides with their pictures and figures, and the files to which they refer.
  /^docs\/[\w-]+\.(md|svg|png|yaml|json)$/,
  /^docs\/(api|decisions|operate|tutorial)\/[\w.@-]+$/,
  /^docs\/examples\/[\w-]+\/[\w.-]+$/,
];

const CONSUMER = readFileSync(inRepository('test/interop/consumer.ts'), 'utf8');
const DESCRIPTION = `import description from 'plant-store/openapi.json' with { type: 'json' };
export const version: string = description.info.version;`;

const TYPESCRIPT_4_7 = installed('typescript-4.7/bin/tsc');
const TYPESCRIPT_5 = installed('typescript/bin/tsc');
const TYPESCRIPT_7 = inRepository('node_modules/typescript/bin/tsc');

describe('The package', () => {
  let project: string;
  let folder: string;
  let files: string[];
  before(() => {
    project = installPackage();
    folder = join(project, 'node_modules/plant-store');
    files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
    const program = { 'package.json': '{ "type": "module" }', 'consumer.ts': CONSUMER, 'description.ts': DESCRIPTION };
    for (const [name, text] of Object.entries(program)) writeFileSync(join(project, name), text);
  });
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');

  it('contains only code, types, mapped sources and documentation', () => {
    expect(files.filter((file) => !PUBLISHED.some((pattern) => pattern.test(file)))).to.deep.equal([]);
    expect(PUBLISHED.filter((pattern) => !files.some((file) => pattern.test(file)))).to.deep.equal([]);
  });

  it('contains source maps, each with its source', () => {
    for (const map of ['dist/core/plant.js.map', 'dist/core/plant.d.ts.map'])
      expect(files).to.include(join(dirname(map), JSON.parse(read(map)).sources[0]));
  });

  it('has no install script, and is smaller than 1.3 MB', () => {
    const names = Object.keys(JSON.parse(read('package.json')).scripts);
    expect(names.filter((name) => /^((pre|post)?install|(pre|post)?prepare)$/.test(name))).to.deep.equal([]);
    // Most of it is the documentation page and the pictures of the guides.
    expect(statSync(tarball()).size).to.be.lessThan(1_300_000);
  });

  it('passes publint', () => {
    const publint = [process.execPath, installed('publint/src/cli.js'), 'run', tarball(), '--strict'] as const;
    expect(outputOf(folder, publint)).to.match(/All good!\s*$/);
  });

  it('loads Koa, Knex, jose and prom-client only when a container needs them', () => {
    const program = `import './node_modules/plant-store/dist/composition/index.js';`;
    bundle(project, program, '--format=esm', '--packages=external', '--ignore-annotations', '--metafile=meta.json');
    const { inputs } = JSON.parse(readFileSync(join(project, 'meta.json'), 'utf8'));
    const loaded = new Set(['entry.js']);
    // A set also iterates over the members that are added meanwhile.
    for (const path of loaded)
      for (const { path: imported, kind } of inputs[path]?.imports ?? [])
        if (kind === 'import-statement') loaded.add(imported);
    expect(loaded).to.include('inversify');
    expect(['koa', 'knex', 'jose', 'prom-client'].filter((name) => loaded.has(name))).to.deep.equal([]);
  });

  /** Compiles a program that embeds the package. Returns the errors, except those in other packages. */
  function compile(compiler: string, module: string, moduleResolution: string, options = {}): string[] {
    // Import attributes are newer than TypeScript 4.7.
    const program = ['consumer.ts', ...(compiler === TYPESCRIPT_4_7 ? [] : ['description.ts'])];
    const compilerOptions = {
      ...{ noEmit: true, strict: true, exactOptionalPropertyTypes: true, target: 'es2022', lib: ['es2022'] },
      ...{ resolveJsonModule: true, types: ['node'], typeRoots: [inRepository('node_modules/@types')] },
      ...{ module, moduleResolution, ...options },
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: program }));
    const { stdout, stderr } = run(project, [process.execPath, compiler, '-p', '.', '--pretty', 'false']);
    expect(stderr).to.equal('');
    return stdout.split('\n').filter((line) => !/^\S*node_modules\/(?!plant-store\/)|^$|^ /.test(line));
  }

  for (const [name, compiler, module, moduleResolution] of [
    ['TypeScript 4.7', TYPESCRIPT_4_7, 'nodenext', 'nodenext'],
    ['TypeScript 5', TYPESCRIPT_5, 'nodenext', 'nodenext'],
    ['TypeScript 5', TYPESCRIPT_5, 'esnext', 'bundler'],
    ['TypeScript 7', TYPESCRIPT_7, 'nodenext', 'nodenext'],
    ['TypeScript 7', TYPESCRIPT_7, 'esnext', 'bundler'],
  ] as const) {
    it(`has types for ${name}, --moduleResolution ${moduleResolution}`, () => {
      expect(compile(compiler, module, moduleResolution)).to.deep.equal([]);
    });
  }

  it('has types for --moduleResolution node10, except those of container bindings', () => {
    const errors = compile(TYPESCRIPT_5, 'esnext', 'node10', { esModuleInterop: true, skipLibCheck: true });
    expect(errors).to.have.lengthOf([...CONSUMER.matchAll(/-error composition:/g)].length);
    for (const error of errors) expect(error).to.match(/^consumer\.ts\S+ error TS2578: Unused '@ts-expect-error'/);
  });
});

describe('npx, in an empty folder,', () => {
  const folder = temporaryFolder();
  let environment: Record<string, string>;
  before(function () {
    skipUnless(this, run(folder, ['npm', 'view', 'koa', 'version']).status === 0, 'an npm registry');
    // Installs into a temporary cache, but reuses npm's downloads.
    const cache = temporaryFolder();
    symlinkSync(
      join(run(folder, ['npm', 'config', 'get', 'cache']).stdout.trim(), '_cacache'),
      join(cache, '_cacache'),
    );
    environment = { npm_config_cache: cache, npm_config_sqlite3_local_prebuilds: createSqlitePrebuild(), PORT: '0' };
  });

  const serve = (more: Readonly<Record<string, string>>) =>
    new Program(folder, ['npx', '--yes', `file:${tarball()}`, 'serve'], { ...environment, ...more });

  for (const [what, settings] of [
    ['which stores plants in a file', {}],
    ['without optional dependencies on memory:', { npm_config_omit: 'optional', DATABASE_URL: 'memory:' }],
  ] as const) {
    it(`runs the service, ${what}, and prints a command that creates a plant`, async () => {
      const service = serve(settings);
      const [, url = '', token] = await service.waitForOutput(/^curl -i (\S+) -H 'Authorization: Bearer ([^']+)'/m);
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
      const response = await fetch(url, { method: 'POST', headers, body: '{"id":1,"name":"Monstera"}' });
      expect([response.status, await response.json()]).to.deep.equal([200, { name: 'Monstera' }]);
      expect(readdirSync(folder)).to.include('plants.db');
    });
  }
});

/**
 * Creates a folder with a prebuilt native addon of sqlite3, which its install script would otherwise download from
 * GitHub, so that the tests need only the npm registry.
 */
function createSqlitePrebuild(): string {
  const sqlite3 = inRepository('node_modules/sqlite3');
  const { version, binary } = JSON.parse(readFileSync(join(sqlite3, 'package.json'), 'utf8'));
  const napi = Math.max(...binary.napi_versions);
  const file = join(temporaryFolder(), `sqlite3-v${version}-napi-v${napi}-${process.platform}-${process.arch}.tar.gz`);
  outputOf(sqlite3, ['tar', '-czf', file, 'build/Release/node_sqlite3.node']);
  return dirname(file);
}
