import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';
import { bundle, installed, installPackage, NODE_24, run, skipUnlessExists } from './interop.js';

describe('The core', () => {
  /** For the browser platform, which rejects Node built-ins. */
  const BROWSER = ['--format=esm', '--platform=browser', '--target=es2024'];
  /** Tests that need no Node built-in. That of the memory adapter runs the contract of repositories. */
  const TESTS = [
    'core/plant',
    'core/use-cases',
    'adapters/driven/memory/memory-plant-repository',
    'adapters/driving/api/api-errors',
    'adapters/driving/api/exact-integer',
  ].map((name) => `dist/test/${name}.test.js`);
  /** The command that runs a file in each runtime. */
  const RUNTIMES: Readonly<Record<string, readonly [string, ...string[]]>> = {
    'this Node': [process.execPath],
    'Node 24': [NODE_24],
    Deno: [installed('@deno/linux-x64-glibc/deno'), 'run', '--no-config', '--no-remote', '--no-npm'],
    Bun: [installed('@oven/bun-linux-x64/bin/bun'), 'run'],
    Chromium: ['/usr/bin/chromium', '--headless', '--no-sandbox', '--virtual-time-budget=60000', '--dump-dom'],
  };
  let folder: string;
  before(() => {
    folder = installPackage();
  });

  it('bundled for browsers, contains nothing else and is smaller than 5 kB, gzipped', () => {
    const options = [...BROWSER, '--minify', '--metafile=core.json'];
    const bundled = bundle(folder, "export * from 'plant-store/core';", ...options);
    const { inputs } = JSON.parse(readFileSync(join(folder, 'core.json'), 'utf8'));
    const others = Object.keys(inputs).filter((path) => !path.startsWith('node_modules/plant-store/dist/core/'));
    expect(others).to.deep.equal(['entry.js']);
    expect(gzipSync(readFileSync(bundled)).length).to.be.lessThan(5000);
  });

  it('is removed from a bundle if nothing is used', () => {
    const unused = bundle(folder, "import 'plant-store/core';", ...BROWSER, '--minify');
    expect(readFileSync(unused, 'utf8').trim()).to.equal('');
  });

  describe('with the memory adapter, the contract and adapters/api, passes the same tests in', () => {
    let bundled: string;
    /** A page that contains the output of the bundle. */
    let page: string;
    before(() => {
      const imports = TESTS.map((path) => `import '${inRepository(path)}';`).join('\n');
      const program = `${imports}\nimport { run } from 'mocha';\nconsole.log(JSON.stringify(await run()));`;
      const alias = `--alias:mocha=${inRepository('test/interop/mocha-anywhere.js')}`;
      // Unlike the files of the package, tests have side effects.
      bundled = bundle(folder, program, ...BROWSER, alias, '--ignore-annotations');
      page = join(folder, 'page.html');
      const log = 'console.log = (text) => document.body.append(text);';
      writeFileSync(page, `<body><script type="module">${log}${readFileSync(bundled, 'utf8')}</script></body>`);
    });

    for (const [name, command] of Object.entries(RUNTIMES)) {
      it(name, function () {
        skipUnlessExists(this, command[0]);
        const { stdout, stderr } = run(folder, [...command, name === 'Chromium' ? page : bundled]);
        const [result = stderr] = /\{"passed":.*\}/.exec(stdout) ?? [];
        expect(result).to.match(/^\{"passed":[1-9]\d+,"failed":\[\]\}$/);
      });
    }
  });
});
