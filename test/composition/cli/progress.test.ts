import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { showProgress } from '../../../composition/cli/progress.js';

/** Passes two chunks on, and returns them with what standard error shows. */
async function show(isTTY: boolean, total?: number): Promise<[string[], string]> {
  const original = Object.getOwnPropertyDescriptor(process, 'stderr') ?? {};
  const stderr = Object.assign(new PassThrough(), { isTTY });
  Object.defineProperty(process, 'stderr', { value: stderr });
  const chunks: string[] = [];
  try {
    for await (const chunk of showProgress<string>(Readable.from(['aé', 'b']), total)) chunks.push(chunk);
  } finally {
    Object.defineProperty(process, 'stderr', original);
  }
  return [chunks, await text(stderr.end())];
}

describe('The progress', () => {
  it('is shown on a terminal, in bytes and, if the size is known, as a percentage', async () => {
    const [chunks, shown] = await show(true, 4);
    expect(chunks).to.deep.equal(['aé', 'b']);
    expect(shown).to.match(/100% \| 4 of 4 bytes/);
    expect((await show(true))[1]).to.include('4 bytes');
  });

  it('is not shown elsewhere', async () => {
    expect(await show(false, 4)).to.deep.equal([['aé', 'b'], '']);
  });
});
