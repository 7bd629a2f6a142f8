import { expect } from 'chai';
import { plantStore } from '../support/executable.js';

/** Expects `export` and `check` to work on a store that contains only the plant 1, Monstera. */
export async function expectReadable(folder: string, url: string): Promise<void> {
  const run = (...args: string[]) =>
    plantStore(folder, args, { DATABASE_URL: url, STORAGE_TIMEOUT: '5s', LOG_LEVEL: 'warn' }).result();
  expect(await run('export')).to.deep.equal({ exitCode: 0, stdout: '{"id":1,"name":"Monstera"}\n', stderr: '' });
  expect(await run('check')).to.include({ exitCode: 0, stderr: '' });
}
