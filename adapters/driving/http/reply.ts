import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '@plant-store/core';
import { type ApiError, failureToApiError, toStatus } from '../api/index.js';

/** A request, as a framework hands it over. */
export interface HttpRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Values of the templates in the path. */
  readonly params?: Readonly<Record<string, string>> | undefined;
  /** The target as sent, if an outer app has removed a prefix from `req.url`. @default req.url */
  readonly originalUrl?: string | undefined;
  /** Reads a body without an encoding, whose `Content-Length` is within the limit. @default reads `req` */
  readonly readBody?: (() => Promise<Uint8Array>) | undefined;
}

/** Status, headers and body to write. The framework adds `Content-Length`. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** For log and metrics. */
  readonly log?: {
    /** The error number, if the request is rejected. */
    readonly error?: number;
    /** The failure behind the error. */
    readonly cause?: unknown;
    /** Why the credential is rejected. */
    readonly reason?: string | undefined;
    /** The authenticated client. */
    readonly principal?: Principal | undefined;
    /** Whether the client disconnected before its request was complete. */
    readonly aborted?: true;
  };
}

/** What a method and a path lead to. */
export interface HttpRoute {
  /** The method, in upper case. A GET also serves HEAD (RFC 9110 §9.1). */
  readonly method: string;
  /** The path, such as `/plants/{plantId}`. */
  readonly path: string;
  /** Its failures become 50001, 50301 or 50304. */
  respond(request: HttpRequest): Reply | Promise<Reply>;
}

/** The headers of a success. */
export const JSON_TYPE = { 'Content-Type': 'application/json' } as const;

/** Returns the reply to a request that is rejected. */
export function errorReply(apiError: ApiError, log?: Reply['log']): Reply {
  const { error, message, headers } = apiError;
  const body = JSON.stringify({ error, message });
  return { status: toStatus(apiError), headers: { ...JSON_TYPE, ...headers }, body, log: { ...log, error } };
}

/** Returns the reply to a request that failed. Its body reveals nothing of the failure. */
export function failureReply(failure: unknown): Reply {
  return errorReply(failureToApiError(failure), { cause: failure });
}
