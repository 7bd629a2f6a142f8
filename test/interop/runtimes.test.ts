import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';
import { skipUnless } from '../support/skip-unless.js';
import { installed, installPackage, runUntilExit, skipUnlessInteropInstalled } from './interop.js';

/** Maximum gzipped size of the core, bundled for browsers. */
const MAX_GZIPPED_CORE_BYTES = 5000;

/** Tests that import only the core, the memory adapter, chai and fast-check. */
const TESTS = ['create-plant', 'plant', 'read-plants'].map((name) => `dist/test/core/${name}.test.js`);

const CHROMIUM = '/usr/bin/chromium';

/** The command that runs a file in each runtime. */
const RUNTIMES: Readonly<Record<string, readonly [program: string, ...args: string[]]>> = {
  'this Node': [process.execPath],
  'Node 22': [installed('node-22/bin/node')],
  'Node 24': [installed('node-24/bin/node')],
  'Node 26': [installed('node-26/bin/node')],
  Deno: [installed('@deno/linux-x64-glibc/deno'), 'run', '--no-config', '--no-remote', '--no-npm'],
  Bun: [installed('@oven/bun-linux-x64/bin/bun'), 'run'],
  Chromium: [process.execPath, inRepository('test/interop/in-chromium.js'), CHROMIUM],
};

describe('The core', function () {
  this.timeout(60_000);
  let folder: string;
  before(function () {
    skipUnlessInteropInstalled(this);
    folder = installPackage();
  });

  describe('bundled for a browser', () => {
    let bundled: string;
    before(() => {
      bundled = bundle(folder, "export * from 'plant-store/core';", '--minify', '--metafile=core.json');
    });

    it('contains only the core', () => {
      const { inputs } = JSON.parse(readFileSync(join(folder, 'core.json'), 'utf8'));
      const others = Object.keys(inputs).filter((path) => !path.startsWith('node_modules/plant-store/dist/core/'));
      expect(others).to.deep.equal(['entry.js']);
    });

    it(`is smaller than ${MAX_GZIPPED_CORE_BYTES} bytes, gzipped`, () => {
      expect(gzipSync(readFileSync(bundled)).length).to.be.lessThan(MAX_GZIPPED_CORE_BYTES);
    });

    it('is empty if nothing is used', () => {
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
      const { stdout } = runUntilExit(inRepository(''), command);
      const { passes, failures }: { passes: { fullTitle: string }[]; failures: unknown[] } = JSON.parse(stdout);
      expect(failures).to.deep.equal([]);
      expect(passes).not.to.have.lengthOf(0);
      expected = passes.map(({ fullTitle }) => fullTitle);

      // Copy the tests to the same paths inside the package, so that they import its code.
      mkdirSync(join(folder, 'node_modules/plant-store/dist/test/core'), { recursive: true });
      const support = ['catch-error', 'plants', 'read-plants', 'texts'].map((name) => `dist/test/support/${name}.js`);
      for (const path of [...TESTS, ...support])
        cpSync(inRepository(path), join(folder, 'node_modules/plant-store', path));
      const imports = TESTS.map((path) => `import './node_modules/plant-store/${path}';`).join('\n');
      const program = `${imports}\nimport { run } from 'mocha';\nconsole.log(JSON.stringify(await run()));`;
      const mochaAnywhere = inRepository('test/interop/mocha-anywhere.js');
      // Unlike the files of the package, tests have side effects.
      bundled = bundle(folder, program, `--alias:mocha=${mochaAnywhere}`, '--ignore-annotations');
    });

    for (const [name, [program, ...args]] of Object.entries(RUNTIMES)) {
      it(name, function () {
        const path = name === 'Chromium' ? CHROMIUM : program;
        skipUnless(this, existsSync(path), `${name}, at ${path}`);
        const { stdout, stderr } = runUntilExit(folder, [program, ...args, bundled]);
        expect(stdout, stderr).to.match(/^\{/);
        expect(JSON.parse(stdout)).to.deep.equal({ passed: expected, failed: [] });
      });
    }
  });
});

let bundles = 0;

/** Bundles a program for the browser platform, which rejects Node built-ins. */
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
  const { status, stderr } = runUntilExit(folder, [
    installed('.bin/esbuild'),
    '--log-level=warning',
    ...args,
    'entry.js',
  ]);
  expect([status, stderr]).to.deep.equal([0, '']);
  return outfile;
}
