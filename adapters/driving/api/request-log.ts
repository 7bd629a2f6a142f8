/** Receives log lines. A pino logger implements it. */
export interface Log {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A finished request. One to which `HttpServer` responds itself has no method and no duration. */
export interface FinishedRequest {
  readonly method?: string;
  /** The path of its route with the prefix, such as `/garden/plants`, if there is one for its method. */
  readonly route?: string | undefined;
  /** The status of the response; absent if the client disconnected before its body arrived. */
  readonly status?: number | undefined;
  /** The error number of a rejection. */
  readonly error?: number | undefined;
  readonly durationMs?: number;
}

/** How requests are reported. */
export interface LogOptions {
  /** Receiver of log lines; its methods must not throw. @default none */
  readonly log?: Log | undefined;
  /** Whether to log a line per request. @default true */
  readonly accessLog?: boolean | undefined;
  /** Called at the end of each request, for example to count it; must not throw. @default none */
  readonly observe?: ((request: FinishedRequest) => void) | undefined;
}
