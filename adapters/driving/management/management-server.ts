import { setTimeout } from 'node:timers/promises';
import Koa from 'koa';
import { NodeHttpServer } from '../http/index.js';

/** Maximum time for the storage to report that it is ready, in milliseconds. */
const READY_TIMEOUT_MS = 1000;

/** The parts of the service that the management listener reports on. */
export interface ManagementOptions {
  /** `ready` rejects while creates would fail. */
  readonly storage: { ready(): Promise<void> };
  /** The text that `/metrics` serves. */
  readonly metrics: { readonly contentType: string; setReady(isReady: boolean): void; text(): Promise<string> };
  readonly isStopping: () => boolean;
}

/** Serves health, readiness and metrics on a separate listener, so that the public one does not expose them. */
export class ManagementServer extends NodeHttpServer {
  constructor(options: ManagementOptions) {
    super(managementApp(options).callback());
  }
}

function managementApp({ storage, metrics, isStopping }: ManagementOptions): Koa {
  /** The storage check in flight; concurrent requests share it. */
  let checkInFlight: Promise<boolean> | undefined;
  const checkStorage = async () => {
    const isReady = storage.ready().then(() => true);
    return isReady.catch(() => false).finally(() => (checkInFlight = undefined));
  };
  const checkReadiness = async () => {
    checkInFlight ??= checkStorage();
    const timeout = setTimeout(READY_TIMEOUT_MS, false, { ref: false });
    const storageStatus = (await Promise.race([checkInFlight, timeout])) ? 'ok' : 'unavailable';
    const serviceStatus = isStopping() ? 'stopping' : 'ok';
    const isReady = storageStatus === 'ok' && serviceStatus === 'ok';
    return { isReady, checks: { service: serviceStatus, storage: storageStatus } };
  };

  const app = new Koa();
  // Without a router, because Koa's parses the Host header in a time that is quadratic in its length.
  app.use(async (ctx) => {
    if (!['GET', 'HEAD'].includes(ctx.method)) return;
    if (ctx.path === '/healthz') ctx.body = { status: 'ok' };
    if (ctx.path === '/readyz') {
      const { isReady, checks } = await checkReadiness();
      ctx.status = isReady ? 200 : 503;
      ctx.body = { status: isReady ? 'ready' : 'not ready', checks };
    }
    if (ctx.path === '/metrics') {
      metrics.setReady((await checkReadiness()).isReady);
      ctx.type = metrics.contentType;
      ctx.body = await metrics.text();
    }
  });
  // Koa's default listener prints to standard error when a client disconnects.
  app.on('error', () => {});
  return app;
}
