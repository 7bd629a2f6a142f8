import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { receive } from '../../../../adapters/driving/http/body.js';
import { catchError } from '../../../support/catch-error.js';

const LIMIT = 1000;

/** Creates a request whose body has arrived. */
function requestOf(...chunks: readonly Uint8Array[]): IncomingMessage {
  const req = new IncomingMessage(new Socket());
  for (const chunk of chunks) req.push(chunk);
  req.push(null);
  return req;
}

describe('receive', () => {
  it('returns the body, however it is split into chunks', async () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(chunks, async (parts) => {
        const received = await receive(requestOf(...parts), 'identity', LIMIT);
        expect(received).to.deep.equal({ kind: 'received', body: Buffer.concat(parts) });
      }),
    );
  });

  it('accepts a body of the limit', async () => {
    const body = Buffer.alloc(LIMIT);
    expect(await receive(requestOf(body), 'identity', LIMIT)).to.deep.equal({ kind: 'received', body });
  });

  it('rejects a larger body with 41301, and discards its rest', async () => {
    const req = requestOf(Buffer.alloc(LIMIT), Buffer.alloc(1), Buffer.alloc(LIMIT));
    const ended = once(req, 'end');
    const error = { error: 41301, message: 'The body is larger than 1000 bytes' };
    expect(await receive(req, 'identity', LIMIT)).to.deep.equal({ kind: 'rejected', error });
    await ended;
  });

  it('throws if the client disconnects', async () => {
    const req = new IncomingMessage(new Socket());
    const received = receive(req, 'identity', LIMIT);
    req.destroy(new Error('reset'));
    expect(await catchError(received)).to.include({ message: 'reset' });
  });
});
