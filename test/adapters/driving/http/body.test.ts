import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { receive } from '#adapters/driving/http/body.js';
import { catchError } from '../../../support/catch-error.js';
import { requestOf } from '../../../support/http-server.js';

const LIMIT = 1000;

/** Creates a request whose body has arrived. */
function requestWith(...chunks: readonly Uint8Array[]): IncomingMessage {
  const { req } = requestOf({});
  for (const chunk of chunks) req.push(chunk);
  req.push(null);
  return req;
}

describe('receive', () => {
  it('returns the body, however it is split into chunks', async () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(chunks, async (parts) => {
        const received = await receive(requestWith(...parts), 'identity', LIMIT);
        expect(received).to.deep.equal({ kind: 'received', body: Buffer.concat(parts) });
      }),
    );
  });

  it('accepts a body of the limit', async () => {
    const body = Buffer.alloc(LIMIT);
    expect(await receive(requestWith(body), 'identity', LIMIT)).to.deep.equal({ kind: 'received', body });
  });

  it('rejects a larger body with 41301, and discards its rest', async () => {
    const { req } = requestOf({});
    const ended = once(req, 'end');
    req.push(Buffer.alloc(LIMIT + 1));
    const error = { error: 41301, message: 'The body is larger than 1000 bytes' };
    expect(await receive(req, 'identity', LIMIT)).to.deep.equal({ kind: 'rejected', error });
    req.push(Buffer.alloc(LIMIT));
    req.push(null);
    await ended;
  });

  it('throws if the client disconnects', async () => {
    const { req } = requestOf({});
    const received = receive(req, 'identity', LIMIT);
    req.destroy(new Error('reset'));
    expect(await catchError(received)).to.include({ message: 'reset' });
  });
});
