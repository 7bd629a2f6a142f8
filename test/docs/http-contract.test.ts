import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
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

  it('has code that passes for this service under node:test', async () => {
    // With this variable, node:test would report to a parent run.
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
    const env = { ...environment, BASE_URL: `http://127.0.0.1:${service.port}`, TOKEN };
    const args = ['--test', '--test-reporter=tap', '--test-name-pattern=^specification', FILE];
    // Rejects if a test fails.
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env });
    const names = [...stdout.matchAll(/^ok \d+ - (specification: .*?)(?: # .*)?$/gm)].map(([, name]) => name);
    const expected = httpContract.filter(({ group }) => group === 'specification');
    expect(names).to.deep.equal(expected.map(({ group, name }) => `${group}: ${name}`));
  });
});
