import type { CreatePlantOutcome, NewPlant, Principal } from '@plant-store/core';
import type { Middleware, ParameterizedContext } from 'koa';
import { type ApiError, type Declined, failureToApiError, toStatus } from '../api/index.js';

/** What creates plants: the use case of the core, or a decorator of it that declines some. */
export interface HttpCreatePlant {
  execute(newPlant: NewPlant): Promise<CreatePlantOutcome | Declined>;
}

/** Counts the creates in flight, from the arrival of their headers until the response is sent, and their memory. */
export interface Load {
  inFlight: number;
  inFlightBytes: number;
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

/** What the create of an authenticated client has on `ctx.state`. */
export interface CreateState extends RequestState {
  principal: Principal;
  body: Uint8Array;
}

export type ApiContext = ParameterizedContext<RequestState>;
export type ApiMiddleware = Middleware<RequestState>;

/** Responds with an Error object. */
export function reject(ctx: ApiContext, apiError: ApiError): void {
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
  // So that the client does not take a response that has begun for a complete one.
  if (ctx.headerSent) ctx.res.destroy();
  else reject(ctx, apiError);
}
