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

/** Whether the service can create plants. */
export interface Readiness {
  readonly isReady: boolean;
  /** `ok` or the problem, by the name of each check. */
  readonly checks: Readonly<Record<string, string>>;
}

/** Returns a function that makes every check. Calls share a check until it ends; one that takes longer has failed. */
export function createReadiness(
  checks: readonly ReadinessCheck[],
  isStopping: () => boolean,
): () => Promise<Readiness> {
  const shared = checks.map(share);
  return async () => {
    const results = await Promise.all(shared.map((run) => run()));
    const statuses = [['service', isStopping() ? 'stopping' : 'ok'], ...results];
    return { isReady: statuses.every(([, status]) => status === 'ok'), checks: Object.fromEntries(statuses) };
  };
}

/** What the management listener serves. */
export interface ManagementOptions {
  readonly checkReadiness: () => Promise<Readiness>;
  /** Such as a registry of `prom-client`. @default none */
  readonly metrics?: { readonly contentType: string; metrics(): Promise<string> } | undefined;
}

/** Serves health, readiness and metrics on a separate listener, so that the public one does not expose them. */
export function createManagementServer({ checkReadiness, metrics }: ManagementOptions): HttpServer {
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
function share(check: ReadinessCheck): () => Promise<[name: string, status: string]> {
  let inFlight: Promise<string> | undefined;
  const run = async () => check.check();
  return async () => {
    inFlight ??= run()
      .then(() => 'ok')
      .catch(() => 'unavailable')
      .finally(() => (inFlight = undefined));
    return [check.name, await Promise.race([inFlight, setTimeout(CHECK_TIMEOUT_MS, 'unavailable', { ref: false })])];
  };
}
