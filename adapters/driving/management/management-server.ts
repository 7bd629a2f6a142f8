import type { RequestListener, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { HttpServer } from '../http-server/index.js';

/** Maximum time for a readiness check. */
const CHECK_TIMEOUT_MS = 1000;

/** A check of `/readyz`. */
export interface ReadinessCheck {
  /** Its name in the response. */
  readonly name: string;
  /** Rejects while the service cannot create plants. */
  check(): Promise<void>;
}

/**
 * Returns a function that makes every check. Calls share a check until it ends; one that takes longer has failed.
 * @param log Receives each first failure, each with another cause than the one before, and the recovery. @default none
 */
export function createReadiness(
  checks: readonly ReadinessCheck[],
  isStopping: () => boolean,
  log?: Pick<Console, 'info' | 'warn'>,
): () => Promise<{ readonly isReady: boolean; readonly checks: Readonly<Record<string, string>> }> {
  const shared = checks.map((check) => share(check, log));
  return async () => {
    const results = await Promise.all(shared.map((run) => run()));
    const statuses = [['service', isStopping() ? 'stopping' : 'ok'], ...results];
    return { isReady: statuses.every(([, status]) => status === 'ok'), checks: Object.fromEntries(statuses) };
  };
}

/**
 * Serves health, readiness and metrics on a separate listener, so that the public one does not expose them.
 * @param metrics Such as a registry of `prom-client`. @default none
 */
export function createManagementServer(
  checkReadiness: ReturnType<typeof createReadiness>,
  metrics?: { readonly contentType: string; metrics(): Promise<string> },
): HttpServer {
  const respond = async (path: string, res: ServerResponse) => {
    if (path === '/healthz') return send(res, 200, JSON.stringify({ status: 'ok' }));
    if (path === '/metrics' && metrics) return send(res, 200, await metrics.metrics(), metrics.contentType);
    if (path !== '/readyz') return send(res, 404, 'Not Found', 'text/plain');
    const { isReady, checks } = await checkReadiness();
    send(res, isReady ? 200 : 503, JSON.stringify({ status: isReady ? 'ready' : 'not ready', checks }));
  };
  const listener: RequestListener = ({ method = '', url = '' }, res) => {
    const path = ['GET', 'HEAD'].includes(method) ? url.replace(/\?.*/, '') : '';
    // A metric of a plugin may fail.
    respond(path, res).catch(() => send(res, 500, 'Internal Server Error', 'text/plain'));
  };
  return new HttpServer(listener, { shutdownTimeoutMs: 0 });
}

function send(res: ServerResponse, status: number, body: string, type = 'application/json'): void {
  res.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

/** Returns a function that resolves to the name of a check and its status, in time. Calls share a check until it ends. */
function share(readiness: ReadinessCheck, log?: Pick<Console, 'info' | 'warn'>) {
  const timeOut = () => Promise.reject(new Error(`no result within ${CHECK_TIMEOUT_MS} ms`));
  let inFlight: Promise<void> | undefined;
  let problem: string | undefined;
  return async (): Promise<[name: string, status: string]> => {
    inFlight ??= (async () => readiness.check())().finally(() => (inFlight = undefined));
    try {
      await Promise.race([inFlight, setTimeout(CHECK_TIMEOUT_MS, undefined, { ref: false }).then(timeOut)]);
      if (problem !== undefined) log?.info({ check: readiness.name }, 'ready again');
      problem = undefined;
      return [readiness.name, 'ok'];
    } catch (err) {
      const cause = err instanceof Error ? `${err.message} ${Object(err.cause).code}` : typeof err;
      if (problem !== cause) log?.warn({ check: readiness.name, err }, 'not ready');
      problem = cause;
      return [readiness.name, 'unavailable'];
    }
  };
}
