import { expect } from 'chai';
import { it } from 'mocha';
import { TokenReload } from '../../composition/token-reload.js';

it('TokenReload reloads every part, and logs those that fail, which keep their tokens', async () => {
  const reloaded: string[] = [];
  let isInvalid = true;
  const parts = [
    { reload: async () => (isInvalid ? Promise.reject(new Error('no tokens')) : undefined) },
    { reload: async () => void reloaded.push('second') },
  ];
  const lines: unknown[] = [];
  const log = { info: (line: unknown) => lines.push(line), error: (...line: unknown[]) => lines.push(line) };
  const reload = new TokenReload(parts, log);
  expect(reload.isSuccessful).to.equal(true);
  await reload.reload();
  expect([reload.isSuccessful, reloaded]).to.deep.equal([false, ['second']]);
  isInvalid = false;
  await reload.reload();
  expect(reload.isSuccessful).to.equal(true);
  expect(lines).to.deep.equal([[{ reason: 'no tokens' }, 'keeping the previous tokens'], 'tokens reloaded']);
});
