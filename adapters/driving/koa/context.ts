import type { Principal } from '@plant-store/core';
import type { Middleware, ParameterizedContext } from 'koa';
import { type ApiError, failureToApiError, toStatus } from '../api/index.js';

/** Counts creates and requests of further client routes, from the arrival of their headers until the response is sent. */
export interface InFlight {
  requests: number;
  /** Memory reserved for the bodies of creates. */
  bytes: number;
}

/** Facts about a request on `ctx.state`, for the log, the metrics and further middlewares. */
export interface RequestState {
  requestId: string;
  /** The authenticated client. */
  principal?: Principal | undefined;
  /** The number of the Error object, if the request is rejected. */
  errorNumber?: number | undefined;
  /** Why the credential is rejected. */
  reason?: string | undefined;
  /** The failure behind the error. */
  failure?: unknown;
  memoryBytes?: number;
}

/** What a request of an authenticated client has on `ctx.state`. */
export interface ClientState extends RequestState {
  principal: Principal;
}

/** What a create has on `ctx.state`. */
export interface CreateState extends ClientState {
  body: Uint8Array;
}

export type ApiContext = ParameterizedContext<RequestState>;
export type ApiMiddleware = Middleware<RequestState>;

/** Responds with an Error object, whose number the log and the metrics get, too. */
export function reject(ctx: ParameterizedContext<RequestState>, apiError: ApiError): void {
  const { error, message, headers = {} } = apiError;
  ctx.state.errorNumber = error;
  ctx.status = toStatus(apiError);
  ctx.set(headers);
  ctx.set('Content-Type', 'application/json');
  ctx.body = JSON.stringify({ error, message });
}

/** Responds to a failure with an Error object that reveals nothing of it. */
export function fail(ctx: ApiContext, failure: unknown, apiError = failureToApiError(failure)): void {
  ctx.state.failure = failure;
  ctx.app.emit('error', failure, ctx);
  // The client must not take a response that has begun for a complete one.
  if (ctx.headerSent) ctx.res.destroy();
  else reject(ctx, apiError);
}
