import { once } from 'node:events';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import { parse as parseContentType } from 'content-type';
import bodyParser from 'koa-bodyparser';
import { rejections } from '../wire/index.js';
import { countOf } from './headers.js';
import { Refusal } from './refusal.js';
/** A client that left before its request was complete; there is nobody to answer. */
export class ClientLeft extends Error {
    name = 'ClientLeft';
}
const damaged = { ...rejections.notJson, message: 'The body does not match its Content-Encoding' };
/**
 * Reads bodies of up to `limitBytes`, by koa-bodyparser in text mode without an encoding, which hands over bytes: its
 * JSON mode rounds numbers, its other text modes replace what is not UTF-8. Inflating is done here, before it, so that
 * what is inflated is counted while it grows, a damaged encoding is told from a defect, and a client that leaves in the
 * middle is noticed.
 */
export function bodyReader(limitBytes) {
    const options = {
        enableTypes: ['text'],
        extendTypes: { text: ['application/json'] },
        encoding: '',
        textLimit: `${limitBytes}`,
    };
    const collect = bodyParser(options);
    const tooLarge = { ...rejections.bodyTooLarge, message: `The body is larger than ${limitBytes} bytes` };
    // Deflate may grow what it cannot shrink, by less than this.
    const encodedLimitBytes = limitBytes + Math.ceil(limitBytes / 1000) + 1024;
    return async (ctx, place) => {
        assertExpectation(ctx);
        assertMediaType(ctx);
        const inflater = inflaterFor(ctx);
        const sentBytesMax = inflater ? encodedLimitBytes : limitBytes;
        if (Number(ctx.get('Content-Length')) > sentBytesMax)
            throw new Refusal(tooLarge);
        const { req } = ctx;
        const failure = failures.get(req);
        if (failure)
            throw failure;
        if (req.destroyed && !req.complete)
            throw new ClientLeft();
        // A client of HTTP/1.0 does not know 100 Continue (RFC 9110 §10.1.1).
        if (ctx.get('Expect') !== '' && req.httpVersion === '1.1')
            ctx.res.writeContinue();
        // koa-bodyparser reads the headers of its stream; what is inflated here has none that count.
        const source = inflater ? req.pipe(Object.assign(inflater, { headers: {} })) : req;
        const stop = (reason) => emitError(source, reason);
        let encodedBytes = 0;
        const countEncoded = (chunk) => {
            encodedBytes += chunk.length;
            if (encodedBytes > encodedLimitBytes)
                stop(new Refusal(tooLarge));
        };
        const count = (chunk) => {
            if (!place.hold(chunk.length))
                stop(new Refusal(rejections.overloaded));
        };
        source.on('data', count);
        if (inflater) {
            req.on('data', countEncoded);
            req.on('error', (error) => stop(error instanceof Refusal ? error : new ClientLeft()));
        }
        req.once('close', () => {
            if (!req.complete)
                stop(new ClientLeft());
        });
        try {
            if (inflater) {
                await collect(Object.create(ctx, { req: { value: source } }), async () => { });
                if (!req.readableEnded)
                    await restOf(req);
                // Bytes behind the end of the encoding are not written to the inflater.
                if (inflater.bytesWritten !== encodedBytes)
                    throw new Refusal(damaged);
            }
            else {
                // koa-bodyparser knows `identity` in small letters alone.
                delete req.headers['content-encoding'];
                await collect(ctx, async () => { });
            }
        }
        catch (error) {
            if (error instanceof Refusal || error instanceof ClientLeft)
                throw error;
            const type = error instanceof Error && 'type' in error ? error.type : undefined;
            if (type === 'entity.too.large')
                throw new Refusal(tooLarge);
            if (type === 'request.aborted')
                throw new ClientLeft();
            if (inflater)
                throw new Refusal({ ...rejections.notJson, message: 'The body does not match its Content-Encoding' });
            throw error;
        }
        finally {
            source.off('data', count);
            req.off('data', countEncoded);
            inflater?.destroy();
        }
        const { body } = ctx.request;
        return body instanceof Uint8Array ? body : new Uint8Array();
    };
}
/** Waits for the end of a request whose encoded body is over, or for the first byte too many. */
async function restOf(req) {
    req.resume();
    try {
        await Promise.race([once(req, 'end'), once(req, 'data')]);
    }
    catch (error) {
        throw error instanceof Refusal ? error : new ClientLeft();
    }
}
const failures = new WeakMap();
/** Ends the reading of a body, now or when it begins, because the rest of it will never come. */
export function failBody(req, refusal) {
    failures.set(req, refusal);
    emitError(req, refusal);
}
/** An error at a stream that is not destroyed: destroying a request would take the socket, and the answer, along. */
function emitError(stream, error) {
    if (stream.listenerCount('error') > 0)
        stream.emit('error', error);
}
function assertExpectation(ctx) {
    const expectation = ctx.get('Expect');
    if (expectation !== '' && expectation.toLowerCase() !== '100-continue')
        throw new Refusal(rejections.unknownExpectation);
}
function assertMediaType(ctx) {
    if (countOf(ctx, 'content-type') > 1)
        throw new Refusal(rejections.unsupportedMediaType);
    const { type, parameters } = parseContentType(ctx.get('Content-Type'));
    const charset = parameters['charset']?.toLowerCase() ?? 'utf-8';
    if (type !== 'application/json' || charset !== 'utf-8')
        throw new Refusal(rejections.unsupportedMediaType);
}
function inflaterFor(ctx) {
    switch (ctx.get('Content-Encoding').toLowerCase()) {
        case '':
        case 'identity':
            return undefined;
        case 'gzip':
        case 'deflate':
            return createUnzip();
        case 'br':
            return createBrotliDecompress();
        default:
            throw new Refusal({
                ...rejections.unsupportedMediaType,
                message: 'Content-Encoding must be identity, gzip, deflate or br',
            });
    }
}
//# sourceMappingURL=body.js.map