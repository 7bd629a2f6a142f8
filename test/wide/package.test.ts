import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { endProgramsAfterEach, Program } from '../support/executable.js';
import { needs } from '../support/needs.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';
import { folderWithPackage, needsWide, runToEnd, tarball, wide } from './wide.js';

/** The largest tarball that is published, in bytes. The page at /docs is most of it. */
const TARBALL_BYTES_MAX = 1_000_000;

/** All that is published. */
const PUBLISHED = [
  /^(package\.json|README\.md|CHANGELOG\.md|LICENSE|dist\/openapi\.json)$/,
  /^dist\/(core|adapters|composition|test\/contract)\/([\w-]+\/)*[\w-]+(\.js|\.d\.ts)(\.map)?$/,
  // What the guide to operating copies.
  /^docs\/operate\/[\w.-]+$/,
  // What the maps lead to.
  /^(core|adapters|composition|test\/contract)\/([\w-]+\/)*[\w-]+\.ts$/,
  // The page at /docs.
  /^dist\/adapters\/koa\/docs-page\/([\w-]+\/)?[\w.-]+$/,
];

describe('The tarball', function () {
  this.timeout(60_000);
  let folder: string;
  let files: string[];
  before(function () {
    needsWide(this);
    folder = join(folderWithPackage(), 'node_modules/plant-store');
    files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  });

  const entryPoints = () => {
    const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return Object.values<string>(exports).map((target) => target.slice('./'.length));
  };

  const node = (...args: string[]) => runToEnd(folder, [process.execPath, ...args]);

  it('holds what runs, its types, and the sources that the maps lead to; nothing else', () => {
    expect(files.filter((file) => !PUBLISHED.some((pattern) => pattern.test(file)))).to.deep.equal([]);
    expect(files.filter((file) => /\.test\.|\btest\/(?!contract\/)/.test(file))).to.deep.equal([]);
  });

  it('has the licence, the changes and the README', () => {
    expect(files).to.include.members(['LICENSE', 'CHANGELOG.md', 'README.md']);
  });

  it('has types for each file that runs, and each entry point', () => {
    expect(files).to.include.members(entryPoints().map((target) => target.replace(/\.js$/, '.d.ts')));
    const typed = files.filter((file) => file.endsWith('.d.ts')).map((file) => file.replace(/\.d\.ts$/, '.js'));
    expect(files).to.include.members(typed);
  });

  it('has maps that lead to a source, of everything that was compiled', () => {
    const maps = files.filter((file) => file.endsWith('.map') && existsSync(join(folder, file.replace(/\.map$/, ''))));
    const sourceOf = (map: string) => {
      const { sources, sourceRoot = '' } = JSON.parse(readFileSync(join(folder, map), 'utf8'));
      return resolve(folder, dirname(map), sourceRoot, sources[0]).slice(folder.length + 1);
    };
    const compiled = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'));
    expect(maps.filter((map) => !files.includes(sourceOf(map)))).to.deep.equal([]);
    for (const kind of ['.js.map', '.d.ts.map']) {
      expect(maps.filter((map) => map.endsWith(kind)).map(sourceOf)).to.have.members(compiled);
    }
  });

  it('has no script that would run where it is installed', () => {
    const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    expect(scripts).not.to.have.any.keys(
      'preinstall',
      'install',
      'postinstall',
      'prepare',
      'preprepare',
      'postprepare',
    );
  });

  it(`is not larger than ${TARBALL_BYTES_MAX / 1000} kB`, () => {
    expect(statSync(tarball()).size).to.be.lessThan(TARBALL_BYTES_MAX);
  });

  it('is as publint wants it', () => {
    const { stdout, stderr } = node(wide('publint/src/cli.js'), 'run', tarball(), '--strict');
    expect(stdout + stderr).to.match(/All good!\s*$/);
  });

  it('has types that resolve, as "are the types wrong" tells', () => {
    const { status, stdout } = node(
      wide('@arethetypeswrong/cli/dist/index.js'),
      ...[tarball(), '--profile', 'esm-only', '--format', 'ascii', '--no-color'],
    );
    const resolutions = [...stdout.matchAll(/^(?:node16 \(from ESM\)|bundler): (.*)$/gm)].map(([, found]) => found);
    expect(resolutions.filter((found) => !found?.startsWith('🟢'))).to.deep.equal([]);
    expect([status, resolutions.length]).to.deep.equal([0, 2 * entryPoints().length]);
  });
});

describe('A TypeScript program that embeds the package', function () {
  this.timeout(60_000);
  let folder: string;
  before(function () {
    needsWide(this);
    folder = folderWithPackage();
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'consumer.ts'), readFileSync(inRepository('test/wide/consumer.ts')));
    writeFileSync(
      join(folder, 'description.ts'),
      `import description from 'plant-store/openapi.json' with { type: 'json' };
      export const version: string = description.info.version;`,
    );
  });

  for (const [compiler, path] of [
    ['TypeScript 5', wide('typescript/bin/tsc')],
    ['TypeScript 7', inRepository('node_modules/typescript/bin/tsc')],
  ] as const) {
    for (const [module, moduleResolution] of [
      ['nodenext', 'nodenext'],
      ['esnext', 'bundler'],
    ] as const) {
      const compile = () => {
        const compilerOptions = {
          ...{ noEmit: true, strict: true, exactOptionalPropertyTypes: true },
          ...{ target: 'es2023', lib: ['es2024'], module, moduleResolution, resolveJsonModule: true },
          ...{ types: ['node'], typeRoots: [inRepository('node_modules/@types')] },
        };
        const files = ['consumer.ts', 'description.ts'];
        writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
        return runToEnd(folder, [process.execPath, path, '-p', '.', '--pretty', 'false']);
      };

      it(`compiles with ${compiler}, --moduleResolution ${moduleResolution}`, () => {
        const { stdout, stderr } = compile();
        // Those of others are not ours to mend.
        expect(stderr).to.equal('');
        expect(
          stdout.split('\n').filter((line) => !/^\S*node_modules\/(?!plant-store\/)|^$|^ /.test(line)),
        ).to.deep.equal([]);
      });
    }
  }
});

const WITHOUT_OPTIONAL = { npm_config_omit: 'optional' };
const WITHOUT_SCRIPTS = { npm_config_ignore_scripts: 'true' };

describe('npx, in an empty folder,', function () {
  this.timeout(120_000);
  endProgramsAfterEach();
  let folder: string;
  let environment: Record<string, string>;

  before(function () {
    needsWide(this);
    needs(this, spawnSync('npm', ['view', 'koa', 'version']).status === 0, 'an npm registry');
    folder = temporaryFolder();
    // What npx installs goes away with the test; what npm has downloaded before is used.
    const cache = temporaryFolder();
    const shared = spawnSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).stdout.trim();
    symlinkSync(join(shared, '_cacache'), join(cache, '_cacache'));
    const prebuilds = engineAsFetched();
    environment = {
      npm_config_cache: cache,
      npm_config_sqlite3_local_prebuilds: prebuilds,
      NODE_V8_COVERAGE: '',
      PORT: '0',
    };
  });

  const npx = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    new Program(folder, ['npx', '--yes', `file:${tarball()}`, ...args], { ...environment, ...more });

  it('runs the service, which keeps plants in a file', async () => {
    const service = npx(['serve']);
    expect(await created(service)).to.deep.equal({ status: 200, body: { name: 'Monstera' } });
    expect(readdirSync(folder)).to.include('plants.db');
  });

  it('runs the service on memory without what is optional', async () => {
    const service = npx(['serve'], { ...WITHOUT_OPTIONAL, DATABASE_URL: 'memory:' });
    expect(await created(service)).to.have.property('status', 200);
  });

  for (const [what, url, settings, problem] of [
    ['sqlite3 is missing', 'sqlite:other.db', WITHOUT_OPTIONAL, 'sqlite3 is not installed: npm install sqlite3'],
    ['pg is missing', 'postgres://127.0.0.1/plants', WITHOUT_OPTIONAL, 'pg is not installed: npm install pg'],
    ['mysql2 is missing', 'mysql://127.0.0.1/plants', WITHOUT_OPTIONAL, 'mysql2 is not installed: npm install mysql2'],
    ['sqlite3 has no engine', 'sqlite:other.db', WITHOUT_SCRIPTS, 'sqlite3 cannot be loaded: npm rebuild sqlite3'],
  ] as const) {
    it(`names the command that helps where ${what}`, async () => {
      const service = npx(['serve'], { ...settings, DATABASE_URL: url });
      expect(await service.exited()).to.equal(1);
      expect(service.stderr).to.include(`the driver ${problem}\n`);
    });
  }
});

/**
 * A folder with the engine of sqlite3 in it, as its install script fetches it from elsewhere: so the test asks for nothing
 * but what the registry has.
 */
function engineAsFetched(): string {
  const folder = temporaryFolder();
  const { version, binary } = JSON.parse(readFileSync(inRepository('node_modules/sqlite3/package.json'), 'utf8'));
  const name = `sqlite3-v${version}-napi-v${Math.max(...binary.napi_versions)}-${process.platform}-${process.arch}.tar.gz`;
  const engine = 'build/Release/node_sqlite3.node';
  spawnSync('tar', ['-czf', join(folder, name), '-C', inRepository('node_modules/sqlite3'), engine]);
  return folder;
}

/** What a service that printed its `curl` command answers when it is pasted. */
async function created(service: Program): Promise<{ status: number; body: unknown }> {
  const [, url = '', token = ''] = await service.says(/^curl -i (\S+) -H 'Authorization: Bearer ([^']+)'/m);
  const response = await fetch(url, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: '{"id":1,"name":"Monstera"}',
  });
  return { status: response.status, body: await response.json() };
}
