import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FinishedRequest } from '@plant-store/adapters/api';
import { HttpServer, type HttpServerOptions } from '@plant-store/adapters/http-server';
import { createKoaApp, type InFlight, type RouteOptions } from '@plant-store/adapters/koa';
import { type CreatePlantUseCase, Plant, type TokenVerifier } from '@plant-store/core';
import { expect } from 'chai';
import { after } from 'mocha';
import type { ResponseObserver } from '#contract/http/connection.js';
import { chunked, newPlant } from '#contract/http/service.js';
import { CREATE_HEADERS } from './client.js';
import { inRepository } from './paths.js';
import { exchange, RawClient, type RawResponse, request } from './raw-http.js';
import { TOKEN } from './service.js';

export type Options = Partial<RouteOptions & HttpServerOptions>;

/** Creates every valid plant. */
export const createPlant: CreatePlantUseCase = {
  async execute(newPlant) {
    const result = Plant.from(newPlant);
    return result.kind === 'valid' ? { kind: 'created', plant: result.plant } : result;
  },
};

const tokenVerifier: TokenVerifier = {
  verify: async (token) =>
    token === TOKEN
      ? { kind: 'valid', principal: { subject: 'tester' } }
      : { kind: 'invalid', reason: 'another token' },
};

/** The folder of Swagger UI. */
export const SWAGGER_UI: string = inRepository('node_modules/swagger-ui-dist');

/** The options of an API that creates every valid plant for {@link TOKEN}. */
export const API_OPTIONS: RouteOptions = { createPlant, tokenVerifier };

type CreateListener = (options: RouteOptions & HttpServerOptions) => RequestListener;

/** The HTTP API on a free port. */
export class TestServer {
  readonly inFlight: InFlight = { requests: 0, bytes: 0 };
  /** The requests that have finished, without their durations. */
  readonly finished: FinishedRequest[] = [];
  readonly #events = new EventEmitter();
  readonly #server: HttpServer;
  readonly #observe: ResponseObserver | undefined;
  /** Resolves when the first request arrives. */
  readonly firstRequest: Promise<unknown> = once(this.#events, 'request');
  port = 0;
  #firstSocket: Socket | undefined;
  /** The first request, unless it was collected as garbage. */
  #first: WeakRef<IncomingMessage> | undefined;

  constructor(options: Options, create: CreateListener, observe?: ResponseObserver) {
    const { inFlight } = this;
    const onFinished = ({ durationMs: _, ...request }: FinishedRequest) => {
      this.finished.push(request);
      this.#events.emit('finished');
    };
    const all = { ...API_OPTIONS, inFlight, observe: onFinished, shutdownTimeoutMs: 500, ...options };
    const listener = create(all);
    const onRequest: RequestListener = (req, res) => {
      this.#firstSocket ??= req.socket;
      this.#first ??= new WeakRef(req);
      listener(req, res);
      this.#events.emit('request');
    };
    this.#server = new HttpServer(onRequest, all);
    this.#observe = observe;
  }

  get isStopping(): boolean {
    return this.#server.isStopping;
  }

  async listen(): Promise<void> {
    this.port = Number(new URL(await this.#server.listen(0, '127.0.0.1')).port);
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  /** Waits until as many requests have finished. */
  async waitForFinished(count: number): Promise<void> {
    while (this.finished.length < count) await once(this.#events, 'finished');
    // The log line comes after the observer.
    await new Promise(setImmediate);
  }

  /** Waits until the connection of the first request is closed. */
  async firstClosed(): Promise<void> {
    const socket = this.#firstSocket;
    if (socket === undefined) throw new Error('no request has arrived');
    if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  }

  /** Resolves to whether the first request is collected as garbage. */
  async isCollected(): Promise<boolean> {
    await new Promise(setImmediate);
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    return this.#first?.deref() === undefined;
  }

  /** Sends bytes over a new connection, which stays open. */
  async connect(bytes: string | Uint8Array = ''): Promise<RawClient> {
    return (await RawClient.connect(this.port, this.#observe)).send(bytes);
  }

  /** Sends bytes over a new connection, and returns the first response. */
  exchange(bytes: string | Uint8Array = post()): Promise<RawResponse | undefined> {
    return exchange(this.port, bytes, this.#observe);
  }

  /** Sends bytes over a new connection, and returns the outcome of the first response. */
  async send(bytes?: string | Uint8Array): Promise<number | undefined> {
    return (await this.exchange(bytes))?.outcome;
  }

  /** Resolves when the server has read everything sent before, because it responded to a later request. */
  async waitUntilRead(): Promise<void> {
    expect(await this.send(request('GET /plants'))).to.equal(40501);
  }
}

/** Returns a function that starts a server, which stops after the suite. */
export function httpServers(
  create: CreateListener = (options) => createKoaApp(options).callback(),
  observe?: ResponseObserver,
) {
  const running: TestServer[] = [];
  after(() => Promise.all(running.map((server) => server.stop())));
  return async (options: Options = {}): Promise<TestServer> => {
    const server = new TestServer(options, create, observe);
    running.push(server);
    await server.listen();
    return server;
  };
}

/** Returns the bytes of a create. */
export function post(body: string | Uint8Array = newPlant(), headers: Readonly<Record<string, string>> = {}): Buffer {
  return request('POST /plants', { ...CREATE_HEADERS, ...headers }, body);
}

/** Returns the bytes of a create whose body has two chunks. */
export function inChunks(body: string): Buffer {
  return post(chunked(body), { 'Transfer-Encoding': 'chunked' });
}

/** Reads the outcome of every response until the connection closes. */
export async function readOutcomes(client: RawClient): Promise<number[]> {
  return (await client.readAllResponses()).map(({ outcome }) => outcome);
}

/** Blocks calls until it is opened. */
export class Gate {
  readonly #events = new EventEmitter();
  readonly #opened = once(this.#events, 'open');
  /** Resolves when the first call is blocked. */
  readonly arrived: Promise<unknown> = once(this.#events, 'arrive');
  /** The number of calls. */
  calls = 0;

  open(): void {
    this.#events.emit('open');
  }

  async #pass(): Promise<void> {
    this.calls++;
    this.#events.emit('arrive');
    await this.#opened;
  }

  /** A use case that is blocked. */
  readonly createPlant: CreatePlantUseCase = {
    execute: async (plant) => {
      await this.#pass();
      return createPlant.execute(plant);
    },
  };

  /** A token verifier that is blocked. */
  readonly tokenVerifier: TokenVerifier = {
    verify: async (token) => {
      await this.#pass();
      return tokenVerifier.verify(token);
    },
  };
}
