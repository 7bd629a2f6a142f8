import type { Principal } from '@plant-store/core';
import type { Middleware, ParameterizedContext } from 'koa';
import { type ApiError, toStatus } from '../api/index.js';

/** Facts about a request on `ctx.state`, for the log, the metrics and further middlewares. */
export interface RequestState {
  requestId: string;
  /** The authenticated client. */
  principal?: Principal;
  /** The error number, if the request is rejected. */
  error?: number;
  /** Why the credential is rejected. */
  reason?: string | undefined;
  /** The failure behind the error. */
  failure?: unknown;
}

export type ApiContext = ParameterizedContext<RequestState>;
export type ApiMiddleware = Middleware<RequestState>;

/** Responds with an Error object. */
export function reject(ctx: ApiContext, apiError: ApiError): void {
  const { error, message, headers = {} } = apiError;
  ctx.state.error = error;
  ctx.status = toStatus(apiError);
  ctx.set(headers);
  ctx.set('Content-Type', 'application/json');
  ctx.body = JSON.stringify({ error, message });
}
