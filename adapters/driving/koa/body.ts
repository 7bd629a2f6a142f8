import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';

// Text mode without an encoding returns raw bytes; an encoding replaces invalid UTF-8, and JSON mode rounds ids.
const MODE = { enableTypes: ['text'], extendTypes: { text: ['application/json'] }, encoding: '' };

/** The parsers by maximum size, because creating one is slow. */
const parsers = new Map<number, Middleware>();

/**
 * Collects a body as it was sent, with koa-bodyparser, which the project requires. Returns `undefined` if it has more than
 * `maxBytes`.
 */
export async function collect(ctx: Context, maxBytes: number): Promise<Uint8Array | undefined> {
  const parse = parsers.get(maxBytes) ?? bodyParser({ ...MODE, textLimit: `${maxBytes}` });
  parsers.set(maxBytes, parse);
  // koa-bodyparser would decompress, but ignore bytes after the end, and never settle if the client disconnects.
  delete ctx.req.headers['content-encoding'];
  try {
    await parse(ctx, async () => {});
  } catch (error) {
    if (error instanceof Error && 'type' in error && error.type === 'entity.too.large') return undefined;
    throw ctx.req.errored ?? error;
  }
  // Without a body, koa-bodyparser leaves an empty object.
  return ctx.request.body instanceof Uint8Array ? ctx.request.body : new Uint8Array();
}
