import { expect } from 'chai';
import { describe, it } from 'mocha';
import { print, reportFailure } from '../../../composition/cli/output.js';
import { catchError } from '../../support/catch-error.js';
import { withStreams } from '../../support/command-folder.js';

describe('The output of a command', () => {
  it('reports a failure that is not expected without its message, which may contain user data', async () => {
    const error = await catchError((async () => JSON.parse('canary'))());
    const { result, stderr } = await withStreams(() => reportFailure(error));
    expect(result).to.equal(1);
    expect(stderr)
      .to.match(/^plant-store: internal error: \{\n.*type: 'SyntaxError'/)
      .and.not.to.include('canary');
  });

  it('rejects if it cannot be written, unless its reader has closed it', async () => {
    for (const [code, expected] of [
      ['EPIPE', 'printed'],
      ['ENOSPC', 'Error: ENOSPC'],
    ] as const) {
      const { result } = await withStreams(() => {
        const error = Object.assign(new Error(code), { code });
        Object.assign(process.stdout, { write: (_: string, done: (error: Error) => void) => done(error) });
        return print('').then(() => 'printed', String);
      });
      expect(result).to.equal(expected);
    }
  });
});
