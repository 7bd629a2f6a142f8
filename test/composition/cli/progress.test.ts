import { Readable } from 'node:stream';
import { expect } from 'chai';
import { it } from 'mocha';
import { showProgress } from '../../../composition/cli/progress.js';
import { withStreams } from '../../support/command-folder.js';

it('The progress is shown on a terminal, in bytes and, if the size is known, as a percentage', async () => {
  for (const [total, isTTY, shown] of [
    [4, true, /100% \| 4 of 4 bytes/],
    [undefined, true, /4 bytes/],
    [4, false, /^$/],
  ] as const) {
    const pass = () => Readable.from(showProgress<string>(Readable.from(['aé', 'b']), total)).toArray();
    const { result, stderr } = await withStreams(pass, { isTTY });
    expect(result).to.deep.equal(['aé', 'b']);
    expect(stderr).to.match(shown);
  }
});
