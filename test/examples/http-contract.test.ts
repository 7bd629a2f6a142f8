import { httpContract } from '@plant-store/contract/http';
import { expect } from 'chai';
import { it } from 'mocha';
import { readConfig, start } from '../../composition/index.js';
import { TOKEN } from '../support/client.js';
import { Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';

it('The example http-contract runs the contract under node:test, which passes for this service', async () => {
  const settings = { PORT: '0', MANAGEMENT_PORT: 'off', DATABASE_URL: 'memory:', LOG_LEVEL: 'silent' };
  const { url: BASE_URL, stop } = await start(readConfig({ ...settings, ACCESS_TOKENS: TOKEN }));
  const file = inRepository('docs/examples/http-contract/http-contract.test.js');
  const args = ['--test', '--test-reporter=tap', '--test-name-pattern=^specification', file];
  const { exitCode, stdout } = await new Program('/', [process.execPath, ...args], { BASE_URL, TOKEN }).result();
  await stop();
  expect(exitCode, stdout).to.equal(0);
  const names = [...stdout.matchAll(/^ +ok \d+ - specification: (.*?)(?: # .*)?$/gm)].map(([, name]) => name);
  const expected = httpContract.filter(({ group }) => group === 'specification');
  expect(names).to.deep.equal(expected.map(({ name }) => name));
});
