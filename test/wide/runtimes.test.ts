import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { needs } from '../support/needs.js';
import { inRepository } from '../support/paths.js';
import { folderWithPackage, needsWide, runToEnd, wide } from './wide.js';

/** How large the core may be that a browser loads, in bytes. */
const CORE_GZIPPED_BYTES_MAX = 5000;

/** The tests that need nothing but the core, the memory adapter, chai and fast-check. */
const TESTS = ['create-plant', 'plant', 'read-plants'].map((name) => `dist/test/core/${name}.test.js`);

const CHROMIUM = '/usr/bin/chromium';

/** How a file runs in each runtime; the test says its outcome on standard output. */
const RUNTIMES: Readonly<Record<string, readonly [program: string, ...args: string[]]>> = {
  'this Node': [process.execPath],
  'Node 22': [wide('node-22/bin/node')],
  'Node 24': [wide('node-24/bin/node')],
  'Node 26': [wide('node-26/bin/node')],
  Deno: [wide('@deno/linux-x64-glibc/deno'), 'run', '--no-config', '--no-remote', '--no-npm'],
  Bun: [wide('@oven/bun-linux-x64/bin/bun'), 'run'],
  Chromium: [process.execPath, inRepository('test/wide/in-chromium.js'), CHROMIUM],
};

describe('The core', function () {
  this.timeout(60_000);
  let folder: string;
  before(function () {
    needsWide(this);
    folder = folderWithPackage();
  });

  describe('bundled for a browser', () => {
    let bundled: string;
    before(() => {
      bundled = bundle(folder, "export * from 'plant-store/core';", '--minify', '--metafile=core.json');
    });

    it('holds nothing but the core', () => {
      const { inputs } = JSON.parse(readFileSync(join(folder, 'core.json'), 'utf8'));
      const others = Object.keys(inputs).filter((path) => !path.startsWith('node_modules/plant-store/dist/core/'));
      expect(others).to.deep.equal(['entry.js']);
    });

    it(`is smaller than ${CORE_GZIPPED_BYTES_MAX} bytes, gzipped`, () => {
      expect(gzipSync(readFileSync(bundled)).length).to.be.lessThan(CORE_GZIPPED_BYTES_MAX);
    });

    it('leaves out what is not used', () => {
      const unused = bundle(folder, "import 'plant-store/core';", '--minify');
      expect(readFileSync(unused, 'utf8').trim()).to.equal('');
    });
  });

  describe('passes the same tests in', () => {
    let expected: string[];
    let bundled: string;
    before(() => {
      const mocha = inRepository('node_modules/mocha/bin/mocha.js');
      const command = [process.execPath, mocha, '--no-config', '--reporter', 'json', ...TESTS] as const;
      const { stdout } = runToEnd(inRepository(''), command);
      const { passes, failures }: { passes: { fullTitle: string }[]; failures: unknown[] } = JSON.parse(stdout);
      expect(failures).to.deep.equal([]);
      expect(passes).not.to.have.lengthOf(0);
      expected = passes.map(({ fullTitle }) => fullTitle);

      // They stand where they stand in the repository, so that what they import is the package's.
      mkdirSync(join(folder, 'node_modules/plant-store/dist/test/core'), { recursive: true });
      for (const path of TESTS) cpSync(inRepository(path), join(folder, 'node_modules/plant-store', path));
      const imports = TESTS.map((path) => `import './node_modules/plant-store/${path}';`).join('\n');
      const program = `${imports}\nimport { run } from 'mocha';\nconsole.log(JSON.stringify(await run()));`;
      const mochaAnywhere = inRepository('test/wide/mocha-anywhere.js');
      // The package says that its files do nothing when they are loaded; tests do.
      bundled = bundle(folder, program, `--alias:mocha=${mochaAnywhere}`, '--ignore-annotations');
    });

    for (const [name, [program, ...args]] of Object.entries(RUNTIMES)) {
      it(name, function () {
        const path = name === 'Chromium' ? CHROMIUM : program;
        needs(this, existsSync(path), `${name}, at ${path}`);
        const { stdout, stderr } = runToEnd(folder, [program, ...args, bundled]);
        expect(stdout, stderr).to.match(/^\{/);
        expect(JSON.parse(stdout)).to.deep.equal({ passed: expected, failed: [] });
      });
    }
  });
});

let bundles = 0;

/** Bundles a program for any runtime; what only Node has cannot be resolved then. */
function bundle(folder: string, program: string, ...options: string[]): string {
  const outfile = join(folder, `bundle-${++bundles}.mjs`);
  writeFileSync(join(folder, 'entry.js'), program);
  const args = [
    '--bundle',
    '--format=esm',
    '--platform=browser',
    '--target=es2024',
    `--outfile=${outfile}`,
    ...options,
  ];
  const { status, stderr } = runToEnd(folder, [wide('.bin/esbuild'), '--log-level=warning', ...args, 'entry.js']);
  expect([status, stderr]).to.deep.equal([0, '']);
  return outfile;
}
