import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { endProgramsAfterEach, Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { skipUnless } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { installed, installPackage, runUntilExit, skipUnlessInteropInstalled, tarball } from './interop.js';

/** Maximum size of the tarball. Most of it is the documentation page and the pictures of the guides. */
const MAX_TARBALL_BYTES = 1_100_000;

/** Patterns of the published files. Each matches at least one. */
const PUBLISHED = [
  /^(package\.json|(README|CHANGELOG|CONTRIBUTING)\.md|LICENSE|dist\/openapi\.json|dist\/index(\.d\.ts|\.js))$/,
  /^dist\/(core|adapters|composition|test\/contract)\/([\w-]+\/)*[\w-]+(\.js|\.d\.ts)(\.map)?$/,
  // Sources referenced by source maps.
  /^(core|adapters|composition|test\/contract)\/([\w-]+\/)*[\w-]+\.ts$/,
  // The documentation page.
  /^dist\/adapters\/koa\/docs-page\/([\w-]+\/)?[\w.-]+$/,
  // Guides with their pictures and figures, and the files to which they refer.
  /^docs\/[\w-]+\.(md|svg|png|yaml|json)$/,
  /^docs\/(api|decisions|operate)\/[\w.@-]+$/,
  /^docs\/examples\/[\w-]+\/[\w.-]+$/,
];

/** Folders of the repository to which guides may link although they are not in the package. */
const NOT_PUBLISHED = /^(test|\.ci|adapters\/koa\/docs-page)\//;

describe('The tarball', function () {
  this.timeout(60_000);
  let folder: string;
  let files: string[];
  before(function () {
    skipUnlessInteropInstalled(this);
    folder = join(installPackage(), 'node_modules/plant-store');
    files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  });

  const entryPoints = () => {
    const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return Object.values<string>(exports).map((target) => target.slice('./'.length));
  };

  const node = (...args: string[]) => runUntilExit(folder, [process.execPath, ...args]);

  it('contains only code, types, mapped sources and documentation', () => {
    expect(files.filter((file) => !PUBLISHED.some((pattern) => pattern.test(file)))).to.deep.equal([]);
    expect(PUBLISHED.filter((pattern) => !files.some((file) => pattern.test(file)))).to.deep.equal([]);
    expect(files.filter((file) => /^(dist\/)?test\/(?!contract\/)|^(?!docs\/).*\.test\./.test(file))).to.deep.equal([]);
  });

  it('contains every file to which its documents link, except in unpublished folders', () => {
    const documents = files.filter((file) => file.endsWith('.md') && !file.startsWith('docs/api/'));
    const broken = documents.flatMap((document) =>
      linksIn(readFileSync(join(folder, document), 'utf8'))
        .map((link) => join(dirname(document), link).replace(/\/$/, ''))
        .filter((target) => !existsSync(join(folder, target)))
        // npm shows the README without the repository, so it must link only to published files.
        .filter((target) => document === 'README.md' || !NOT_PUBLISHED.test(target))
        .map((target) => `${document}: ${target}`),
    );
    expect(documents).to.include.members(['README.md', 'docs/embed.md', 'docs/decisions/README.md']);
    expect(broken).to.deep.equal([]);
  });

  it('contains types for each entry point, and a module for each declaration file', () => {
    expect(files).to.include.members(entryPoints().map((target) => target.replace(/\.js$/, '.d.ts')));
    const typed = files.filter((file) => file.endsWith('.d.ts')).map((file) => file.replace(/\.d\.ts$/, '.js'));
    expect(files).to.include.members(typed);
  });

  it('contains source maps for every compiled file, each with its source', () => {
    const maps = files.filter((file) => file.endsWith('.map') && existsSync(join(folder, file.replace(/\.map$/, ''))));
    const sourceOf = (map: string) => {
      const { sources, sourceRoot = '' } = JSON.parse(readFileSync(join(folder, map), 'utf8'));
      return resolve(folder, dirname(map), sourceRoot, sources[0]).slice(folder.length + 1);
    };
    const compiled = files.filter((file) => /^(?!dist\/|docs\/).*\.ts$/.test(file));
    expect(maps.filter((map) => !files.includes(sourceOf(map)))).to.deep.equal([]);
    for (const kind of ['.js.map', '.d.ts.map']) {
      expect(maps.filter((map) => map.endsWith(kind)).map(sourceOf)).to.have.members(compiled);
    }
  });

  it('has no install script', () => {
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

  it(`is smaller than ${MAX_TARBALL_BYTES / 1000} kB`, () => {
    expect(statSync(tarball()).size).to.be.lessThan(MAX_TARBALL_BYTES);
  });

  it('passes publint', () => {
    const { stdout, stderr } = node(installed('publint/src/cli.js'), 'run', tarball(), '--strict');
    expect(stdout + stderr).to.match(/All good!\s*$/);
  });

  it('has types that resolve, according to "Are the types wrong?"', () => {
    const { status, stdout } = node(
      installed('@arethetypeswrong/cli/dist/index.js'),
      ...[tarball(), '--ignore-rules', 'cjs-resolves-to-esm', '--exclude-entrypoints', '.'],
      ...['--format', 'ascii', '--no-color'],
    );
    const resolutions = [...stdout.matchAll(/^(?:node10|node16 \(from ESM\)|bundler): (.*)$/gm)].map(
      ([, found]) => found,
    );
    expect(resolutions.filter((found) => !found?.startsWith('🟢'))).to.deep.equal([]);
    expect([status, resolutions.length], stdout).to.deep.equal([0, 3 * (entryPoints().length - 1)]);
  });
});

describe('A TypeScript program that embeds the package', function () {
  this.timeout(60_000);
  let folder: string;
  before(function () {
    skipUnlessInteropInstalled(this);
    folder = installPackage();
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'consumer.ts'), readFileSync(inRepository('test/interop/consumer.ts')));
    writeFileSync(
      join(folder, 'description.ts'),
      `import description from 'plant-store/openapi.json' with { type: 'json' };
      export const version: string = description.info.version;`,
    );
  });

  /** Compiles files of the folder. Returns the errors, except those in other packages. */
  const compile = (compiler: string, files: readonly string[], options: Readonly<Record<string, unknown>>) => {
    const compilerOptions = {
      ...{ noEmit: true, strict: true, exactOptionalPropertyTypes: true, target: 'es2022', lib: ['es2022'] },
      ...{ types: ['node'], typeRoots: [inRepository('node_modules/@types')], ...options },
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    const { stdout, stderr } = runUntilExit(folder, [process.execPath, compiler, '-p', '.', '--pretty', 'false']);
    expect(stderr).to.equal('');
    return stdout.split('\n').filter((line) => !/^\S*node_modules\/(?!plant-store\/)|^$|^ /.test(line));
  };
  const TYPESCRIPT_4_7 = installed('typescript-4.7/bin/tsc');
  const TYPESCRIPT_5 = installed('typescript/bin/tsc');
  const TYPESCRIPT_7 = inRepository('node_modules/typescript/bin/tsc');

  for (const [name, compiler, module, moduleResolution] of [
    ['TypeScript 4.7', TYPESCRIPT_4_7, 'nodenext', 'nodenext'],
    ['TypeScript 5', TYPESCRIPT_5, 'nodenext', 'nodenext'],
    ['TypeScript 5', TYPESCRIPT_5, 'esnext', 'bundler'],
    ['TypeScript 7', TYPESCRIPT_7, 'nodenext', 'nodenext'],
    ['TypeScript 7', TYPESCRIPT_7, 'esnext', 'bundler'],
  ] as const) {
    it(`compiles with ${name}, --moduleResolution ${moduleResolution}`, () => {
      // Import attributes are newer than TypeScript 4.7.
      const files = ['consumer.ts', ...(compiler === TYPESCRIPT_4_7 ? [] : ['description.ts'])];
      expect(compile(compiler, files, { module, moduleResolution, resolveJsonModule: true })).to.deep.equal([]);
    });
  }

  it('compiles with --moduleResolution node10, except that container bindings are not type-checked', () => {
    const node10 = { module: 'esnext', moduleResolution: 'node10', resolveJsonModule: true };
    const options = { ...node10, esModuleInterop: true, skipLibCheck: true };
    const errors = compile(TYPESCRIPT_5, ['consumer.ts', 'description.ts'], options);
    const consumer = readFileSync(join(folder, 'consumer.ts'), 'utf8').split('\n');
    const unusedExpectErrors = errors.map((error) => {
      const [, line] = /^consumer\.ts\((\d+),\d+\): error TS2578: Unused '@ts-expect-error'/.exec(error) ?? [];
      return line === undefined ? error : consumer[Number(line) - 1]?.trim();
    });
    expect(unusedExpectErrors).to.deep.equal(
      consumer.map((line) => line.trim()).filter((line) => /-error composition:/.test(line)),
    );
  });

  it('gets an error if it imports no entry point; the types name the entry points', () => {
    writeFileSync(
      join(folder, 'main.ts'),
      "import { CreatePlant } from 'plant-store';\nexport const name = CreatePlant.name;",
    );
    const errors = compile(TYPESCRIPT_5, ['main.ts'], { module: 'nodenext' });
    expect(errors.join('\n')).to.include(`'"plant-store"' has no exported member 'CreatePlant'`);
    expect(readFileSync(join(folder, 'node_modules/plant-store/dist/index.d.ts'), 'utf8')).to.include(
      'plant-store/core,',
    );
  });
});

/** Returns the relative links of a Markdown text, without their anchors. */
function linksIn(markdown: string): string[] {
  const text = markdown.replaceAll(/^ *```.*?^ *```/gms, '').replaceAll(/`[^`\n]*`/g, '');
  const links = [...text.matchAll(/\]\(([^)#\s]+)|\b(?:src|srcset)="([^"]+)"/g)].map(
    ([, link, source]) => link ?? source,
  );
  return links.flatMap((link) => (link === undefined || /^[a-z]+:/.test(link) ? [] : [link]));
}

const WITHOUT_OPTIONAL = { npm_config_omit: 'optional' };
const WITHOUT_SCRIPTS = { npm_config_ignore_scripts: 'true' };

describe('npx, in an empty folder,', function () {
  this.timeout(120_000);
  endProgramsAfterEach();
  let folder: string;
  let environment: Record<string, string>;

  before(function () {
    skipUnlessInteropInstalled(this);
    skipUnless(this, spawnSync('npm', ['view', 'koa', 'version']).status === 0, 'an npm registry');
    folder = temporaryFolder();
    // Installs into a temporary cache, but reuses npm's downloads.
    const cache = temporaryFolder();
    const shared = spawnSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).stdout.trim();
    symlinkSync(join(shared, '_cacache'), join(cache, '_cacache'));
    const prebuilds = createSqlitePrebuild();
    environment = {
      npm_config_cache: cache,
      npm_config_sqlite3_local_prebuilds: prebuilds,
      NODE_V8_COVERAGE: '',
      PORT: '0',
    };
  });

  const npx = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    new Program(folder, ['npx', '--yes', `file:${tarball()}`, ...args], { ...environment, ...more });

  it('runs the service, which stores plants in a file', async () => {
    const service = npx(['serve']);
    expect(await createFromPrintedCommand(service)).to.deep.equal({ status: 200, body: { name: 'Monstera' } });
    expect(readdirSync(folder)).to.include('plants.db');
  });

  it('runs the service with DATABASE_URL=memory: and no optional dependencies', async () => {
    const service = npx(['serve'], { ...WITHOUT_OPTIONAL, DATABASE_URL: 'memory:' });
    expect(await createFromPrintedCommand(service)).to.have.property('status', 200);
  });

  for (const [what, url, settings, problem] of [
    ['sqlite3 is missing', 'sqlite:other.db', WITHOUT_OPTIONAL, 'sqlite3 is not installed: npm install sqlite3'],
    ['pg is missing', 'postgres://127.0.0.1/plants', WITHOUT_OPTIONAL, 'pg is not installed: npm install pg'],
    ['mysql2 is missing', 'mysql://127.0.0.1/plants', WITHOUT_OPTIONAL, 'mysql2 is not installed: npm install mysql2'],
    [
      'the native addon of sqlite3 is missing',
      'sqlite:other.db',
      WITHOUT_SCRIPTS,
      'sqlite3 cannot be loaded: npm rebuild sqlite3',
    ],
  ] as const) {
    it(`prints the command to run if ${what}`, async () => {
      const service = npx(['serve'], { ...settings, DATABASE_URL: url });
      expect(await service.exited()).to.equal(1);
      expect(service.stderr).to.include(`the driver ${problem}\n`);
    });
  }
});

/**
 * Creates a folder with a prebuilt native addon of sqlite3, which its install script would otherwise download from
 * GitHub, so that the tests need only the npm registry.
 */
function createSqlitePrebuild(): string {
  const folder = temporaryFolder();
  const { version, binary } = JSON.parse(readFileSync(inRepository('node_modules/sqlite3/package.json'), 'utf8'));
  const name = `sqlite3-v${version}-napi-v${Math.max(...binary.napi_versions)}-${process.platform}-${process.arch}.tar.gz`;
  const addon = 'build/Release/node_sqlite3.node';
  spawnSync('tar', ['-czf', join(folder, name), '-C', inRepository('node_modules/sqlite3'), addon]);
  return folder;
}

/** Sends the request of the `curl` command that the service printed. */
async function createFromPrintedCommand(service: Program): Promise<{ status: number; body: unknown }> {
  const [, url = '', token = ''] = await service.waitForOutput(/^curl -i (\S+) -H 'Authorization: Bearer ([^']+)'/m);
  const response = await fetch(url, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: '{"id":1,"name":"Monstera"}',
  });
  return { status: response.status, body: await response.json() };
}
