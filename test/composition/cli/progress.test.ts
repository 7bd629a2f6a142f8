import { Readable } from 'node:stream';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { showProgress } from '../../../composition/cli/progress.js';
import { withStreams } from './in-process.js';

describe('The progress', () => {
  const pass = (total?: number) => Readable.from(showProgress<string>(Readable.from(['aé', 'b']), total)).toArray();

  it('is shown on a terminal, in bytes and, if the size is known, as a percentage', async () => {
    const { result, stderr } = await withStreams(() => pass(4), { isTTY: true });
    expect(result).to.deep.equal(['aé', 'b']);
    expect(stderr).to.match(/100% \| 4 of 4 bytes/);
    expect((await withStreams(() => pass(), { isTTY: true })).stderr).to.include('4 bytes');
  });

  it('is not shown elsewhere', async () => {
    expect((await withStreams(() => pass(4))).stderr).to.equal('');
  });
});
