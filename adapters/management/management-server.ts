import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import Router from '@koa/router';
import Koa from 'koa';
import type { PlantRepository } from '../../core/index.js';
import type { Metrics } from './metrics.js';

/** How long an operator's request may take to arrive, in milliseconds. */
const REQUEST_MS_MAX = 5000;
/** How often it is looked whether one took longer, in milliseconds. */
const CHECKING_MS = 500;
/** How long the storage may take to say that it is there, in milliseconds: who asks does not wait long either. */
const READY_MS_MAX = 1000;
const CONNECTIONS_MAX = 64;

/** What the management listener looks at. */
export interface ManagementOptions {
  readonly plants: PlantRepository;
  readonly metrics: Metrics;
  readonly isStopping: () => boolean;
}

/** Health, readiness and metrics, on a listener of their own that the world does not reach. */
export class ManagementServer {
  readonly #server: Server;

  constructor(options: ManagementOptions) {
    const handle = managementApp(options).callback();
    const asked = new WeakSet<Socket>();
    this.#server = createServer({ connectionsCheckingInterval: CHECKING_MS }, (req, res) => {
      // One request a connection: who pipelines many and does not read would have their answers kept.
      if (asked.has(req.socket)) return;
      asked.add(req.socket);
      res.setHeader('Connection', 'close');
      handle(req, res);
    });
    // Who does not read its answer, or sends nothing, keeps its place no longer than a request may take.
    this.#server.setTimeout(REQUEST_MS_MAX);
    this.#server.requestTimeout = REQUEST_MS_MAX;
    this.#server.headersTimeout = REQUEST_MS_MAX;
    this.#server.maxConnections = CONNECTIONS_MAX;
  }

  /** Listens; rejects with the operating system's error where it cannot. */
  async listen(port: number, host: string): Promise<AddressInfo> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new TypeError('the server listens on no TCP port');
    return address;
  }

  /** Stops listening and cuts off who is still there. */
  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function managementApp({ plants, metrics, isStopping }: ManagementOptions): Koa {
  const router = new Router();
  // However many ask, the storage is asked once at a time.
  let asked: Promise<void> | undefined;
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    asked ??= plants.ready().finally(() => {
      asked = undefined;
    });
    const answered = asked.then(
      () => true,
      () => false,
    );
    const late = setTimeout(READY_MS_MAX, false, { ref: false });
    const storage = (await Promise.race([answered, late])) ? 'ok' : 'does not answer';
    const service = isStopping() ? 'is stopping' : 'ok';
    const isReady = storage === 'ok' && service === 'ok';
    ctx.status = isReady ? 200 : 503;
    ctx.body = { status: isReady ? 'ready' : 'not ready', checks: { service, storage } };
  });
  router.get('/metrics', async (ctx) => {
    const { type, body } = await metrics.text();
    ctx.type = type;
    ctx.body = body;
  });
  const app = new Koa();
  app.use(router.routes());
  // A client that left is nobody's business.
  app.on('error', () => {});
  return app;
}
