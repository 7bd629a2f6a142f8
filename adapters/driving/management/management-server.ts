import { setTimeout } from 'node:timers/promises';
import Koa from 'koa';
import { HttpServer } from '../koa/index.js';

/** Maximum time for a readiness check. */
const CHECK_TIMEOUT_MS = 1000;

/** A check of `/readyz`. */
export interface ReadinessCheck {
  /** Its name in the response. */
  readonly name: string;
  /** Rejects while the service cannot create plants. */
  check(): Promise<void>;
}

/** The parts of the service that the management listener reports on. */
export interface ManagementOptions {
  readonly checks: readonly ReadinessCheck[];
  /** `text` is what `/metrics` serves. */
  readonly metrics: {
    readonly contentType: string;
    gauge(name: string, help: string, read: () => Promise<number>): void;
    text(): Promise<string>;
  };
  readonly isStopping: () => boolean;
}

/** Serves health, readiness and metrics on a separate listener, so that the public one does not expose them. */
export function createManagementServer({ checks, metrics, isStopping }: ManagementOptions): HttpServer {
  const shared = checks.map((each) => ({ name: each.name, getStatus: share(each) }));
  const checkReadiness = async () => {
    const service = isStopping() ? 'stopping' : 'ok';
    const results = await Promise.all(shared.map(({ getStatus }) => getStatus()));
    const statuses: Record<string, string> = { service };
    for (const [index, { name }] of shared.entries()) statuses[name] = results[index] ?? 'unavailable';
    return { isReady: [service, ...results].every((status) => status === 'ok'), checks: statuses };
  };
  const help = '1 if the service can create plants, as /readyz, otherwise 0.';
  metrics.gauge('ready', help, async () => Number((await checkReadiness()).isReady));

  const app = new Koa();
  // Without a router, because Koa's parses the Host header in a time that is quadratic in its length.
  app.use(async (ctx) => {
    if (!['GET', 'HEAD'].includes(ctx.method)) return;
    if (ctx.path === '/healthz') ctx.body = { status: 'ok' };
    if (ctx.path === '/readyz') {
      const readiness = await checkReadiness();
      ctx.status = readiness.isReady ? 200 : 503;
      ctx.body = { status: readiness.isReady ? 'ready' : 'not ready', checks: readiness.checks };
    }
    if (ctx.path === '/metrics') {
      ctx.type = metrics.contentType;
      ctx.body = await metrics.text();
    }
  });
  // Koa's default listener prints to standard error when a client disconnects.
  app.on('error', () => {});
  return new HttpServer(app.callback(), { shutdownTimeoutMs: 0 });
}

/** Returns a function that resolves to the status of a check. Concurrent calls share the check. */
function share(check: ReadinessCheck): () => Promise<string> {
  let inFlight: Promise<string> | undefined;
  const run = async () => {
    await check.check();
    return 'ok';
  };
  return async () => {
    inFlight ??= run()
      .catch(() => 'unavailable')
      .finally(() => (inFlight = undefined));
    const timeout = setTimeout(CHECK_TIMEOUT_MS, 'unavailable', { ref: false });
    return Promise.race([inFlight, timeout]);
  };
}
