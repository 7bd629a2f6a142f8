import type { Layer } from '@koa/router';
import { type LogOptions, toRequestId } from '../api/index.js';
import type { ApiMiddleware } from './context.js';

/** Gives each request an id, and reports its end. */
export function logRequests({ log, accessLog = true, observe }: LogOptions): ApiMiddleware {
  return async (ctx, next) => {
    const start = performance.now();
    const requestId = toRequestId(ctx.headers['x-request-id']);
    ctx.state.requestId = requestId;
    ctx.set('X-Request-Id', requestId);
    await next();
    const durationMs = Math.round((performance.now() - start) * 1000) / 1000;
    const { principal, reason, failure } = ctx.state;
    const { method, matched } = ctx;
    // `_matchedRoute` would be the path of a middleware that rejects.
    const route = matched?.findLast(({ methods }: Layer) => methods.includes(method))?.path.toString();
    // The client has disconnected before its body arrived, or the server has responded because it is malformed or late.
    const aborted = ctx.req.errored ? true : undefined;
    const { status, error } = aborted ? {} : { status: ctx.status, error: ctx.state.errorNumber };
    observe?.({ method, route, status, error, durationMs });
    // W3C Trace Context §3.2
    const [traceparent] = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.exec(ctx.get('traceparent')) ?? [];
    if (failure !== undefined) log?.error({ requestId, traceparent, error, err: failure }, 'request failed');
    if (!accessLog || !log) return;
    const [path] = /^\/[^?#]{0,255}/.exec(ctx.originalUrl) ?? [];
    const { subject, issuer } = principal ?? {};
    const client = { subject: subject && escapeControls(subject), issuer: issuer && escapeControls(issuer) };
    const request = { requestId, traceparent, method, path, ...client, status, error, reason, aborted, durationMs };
    log.info(request, 'request');
  };
}

/** Escapes characters with which a terminal executes a command, ends a line or reorders it. */
function escapeControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u${character.codePointAt(0)?.toString(16).padStart(4, '0')}`;
  });
}
