import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { httpContract } from '../contract/http/index.js';
import { codeBlocks, section } from '../support/guide.js';
import { inRepository } from '../support/paths.js';
import { startService, type TestService, TOKEN } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';

const FILE = 'http-contract.test.js';

describe('The section "Test your own implementation" of docs/http-api.md', () => {
  const folder = temporaryFolder();
  let service: TestService;
  before(async () => {
    service = await startService();
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(inRepository(''), join(folder, 'node_modules/plant-store'));
    const [code] = codeBlocks(section('docs/http-api.md', 'Test your own implementation'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, FILE), code?.text ?? '');
  });
  after(() => service.stop());

  /** Runs the code under node:test, but only the cases of the specification. */
  const run = (token: string) => {
    // With this variable, node:test would report to a parent run.
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
    const env = { ...environment, BASE_URL: `http://127.0.0.1:${service.port}`, TOKEN: token };
    const args = ['--test', '--test-reporter=tap', '--test-name-pattern=^specification', FILE];
    return new Promise<{ failed: boolean; stdout: string }>((resolve) => {
      execFile(process.execPath, args, { cwd: folder, env }, (error, stdout) =>
        resolve({ failed: error !== null, stdout }),
      );
    });
  };

  it('has code that passes for this service', async () => {
    const { failed, stdout } = await run(TOKEN);
    const names = [...stdout.matchAll(/^ok \d+ - (specification: .*?)(?: # .*)?$/gm)].map(([, name]) => name);
    const expected = httpContract.filter(({ group }) => group === 'specification');
    expect(names).to.deep.equal(expected.map(({ group, name }) => `${group}: ${name}`));
    expect(failed, stdout).to.equal(false);
  });

  it('has code that reports a wrong token once', async () => {
    const { failed, stdout } = await run('wrong');
    expect(stdout.match(/does not accept the token/g), stdout).to.have.lengthOf(1);
    expect(failed).to.equal(true);
  });
});
