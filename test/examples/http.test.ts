import { type HttpContractCase, httpContract } from '@plant-store/contract/http';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readConfig, start } from '../../composition/index.js';
import { Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { TOKEN } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';

/** The topics of the contract that the small services meet completely. */
const TOPICS = ['specification', 'ids', 'conflicts'];

/** Returns the names of the cases that a target does not meet. */
async function findFailed(baseUrl: string, cases: readonly HttpContractCase[]): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, run } of cases) await run({ baseUrl, token: TOKEN }).catch(() => failed.push(name));
  return failed;
}

/** Checks that a small service meets these topics, with and without group commit. */
async function checkSmallService(folder: string, file: string): Promise<void> {
  const command = [process.execPath, inRepository(`dist/docs/examples/${file}`)] as const;
  const cases = httpContract.filter(({ topic }) => TOPICS.includes(topic));
  for (const GROUP_COMMIT of ['off', 'on']) {
    const port = await new Program(folder, command, { PORT: '0', ACCESS_TOKEN: TOKEN, GROUP_COMMIT }).port();
    expect(await findFailed(`http://127.0.0.1:${port}`, cases), `GROUP_COMMIT=${GROUP_COMMIT}`).to.deep.equal([]);
  }
}

describe('The HTTP example', () => {
  const folder = temporaryFolder();

  it('single-file meets its part of the contract', () => checkSmallService(folder, 'single-file/server.js'));

  it('two-ports meets its part of the contract', () => checkSmallService(folder, 'two-ports/main.js'));

  it('http-contract runs the contract under node:test, which passes for this service', async () => {
    const settings = { PORT: '0', MANAGEMENT_PORT: 'off', DATABASE_URL: 'memory:', LOG_LEVEL: 'silent' };
    const { url: BASE_URL, stop } = await start(readConfig({ ...settings, ACCESS_TOKENS: TOKEN }));
    const file = inRepository('docs/examples/http-contract/http-contract.test.js');
    const args = ['--test', '--test-reporter=tap', '--test-name-pattern=^specification', file];
    const nodeTest = new Program(folder, [process.execPath, ...args], { BASE_URL, TOKEN });
    const { exitCode, stdout } = await nodeTest.result();
    await stop();
    expect(exitCode, stdout).to.equal(0);
    const names = [...stdout.matchAll(/^ +ok \d+ - specification: (.*?)(?: # .*)?$/gm)].map(([, name]) => name);
    const expected = httpContract.filter(({ group }) => group === 'specification');
    expect(names).to.deep.equal(expected.map(({ name }) => name));
  });
});
