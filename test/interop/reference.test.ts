import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';
import { runUntilExit, skipUnlessInteropInstalled } from './interop.js';

describe('The API reference', function () {
  this.timeout(120_000);
  let folder: string;
  let output: ReturnType<typeof runUntilExit>;
  before(function () {
    skipUnlessInteropInstalled(this);
    folder = temporaryFolder();
    output = runUntilExit(inRepository(''), ['npm', 'run', '--silent', 'docs', '--', '--out', folder]);
  });

  it('is generated without a warning', () => {
    expect([output.status, output.stdout, output.stderr]).to.deep.equal([0, '', '']);
  });

  it('has a page for each entry point', () => {
    const { exports } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8'));
    const pages = Object.values<string>(exports)
      .filter((target) => target.endsWith('/index.js') && target !== './dist/index.js')
      .map((target) => target.replace('./dist/', '').replace(/\/index\.js$/, ''));
    const missing = pages.filter((path) => !existsSync(join(folder, 'modules', `${path.replaceAll('/', '_')}.html`)));
    expect(missing).to.deep.equal([]);
  });
});
