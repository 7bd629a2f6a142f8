import type { RequestListener, ServerResponse } from 'node:http';
import type { FinishedRequest } from '@plant-store/adapters/api';
import { HttpServer, type HttpServerOptions } from '@plant-store/adapters/http-server';
import { createKoaApp, type InFlight, type RouteOptions } from '@plant-store/adapters/koa';
import { type CreatePlantUseCase, Plant, type TokenVerifier } from '@plant-store/core';
import { after } from 'mocha';
import { chunked, newPlant } from '#contract/http/service.js';
import { CREATE_HEADERS, exchange, RawClient, type RawResponse, request, TOKEN } from '../../support/client.js';
import { inRepository } from '../../support/paths.js';

/** The folder of Swagger UI. */
export const SWAGGER_UI: string = inRepository('node_modules/swagger-ui-dist');

/** Creates every valid plant. */
export const createPlant: CreatePlantUseCase = {
  async execute(newPlant) {
    const result = Plant.from(newPlant);
    return result.kind === 'valid' ? { kind: 'created', plant: result.plant } : result;
  },
};

/** Accepts {@link TOKEN}. */
export const tokenVerifier: TokenVerifier = {
  verify: async (token) =>
    token === TOKEN
      ? { kind: 'valid', principal: { subject: 'tester' } }
      : { kind: 'invalid', reason: 'another token' },
};

type Options = Partial<RouteOptions & HttpServerOptions>;
export type CreateListener = (options: RouteOptions & HttpServerOptions) => RequestListener;

/** A server on a free port, and its clients. */
export class TestServer extends HttpServer {
  readonly inFlight: InFlight;
  /** The requests that have finished, without their durations. */
  readonly finished: FinishedRequest[];
  port = 0;

  constructor(options: Options, createListener: CreateListener = (all) => createKoaApp(all).callback()) {
    const inFlight = { requests: 0, bytes: 0 };
    const finished: FinishedRequest[] = [];
    const observe = ({ durationMs: _, ...request }: FinishedRequest) => void finished.push(request);
    const all = { createPlant, tokenVerifier, inFlight, observe, shutdownTimeoutMs: 500, ...options };
    super(createListener(all), all);
    this.inFlight = inFlight;
    this.finished = finished;
  }

  /** Sends bytes over a new connection, which stays open, and waits until the server has read them. */
  async connect(bytes: string | Uint8Array = ''): Promise<RawClient> {
    const client = (await RawClient.connect(this.port)).send(bytes);
    await this.waitUntilRead();
    return client;
  }

  /** Sends bytes over a new connection, and returns the first response. */
  exchange(bytes: string | Uint8Array = post()): Promise<RawResponse | undefined> {
    return exchange(this.port, bytes);
  }

  /** Sends bytes over a new connection, and returns the outcome of the first response. */
  async send(bytes?: string | Uint8Array): Promise<number | undefined> {
    return (await this.exchange(bytes))?.outcome;
  }

  /** Resolves when the server has read everything sent before, because it has responded to a later request. */
  async waitUntilRead(): Promise<void> {
    await this.exchange(request('GET /plants'));
  }
}

/** Returns a function that starts the HTTP API, or another listener. The servers stop after the suite. */
export function httpServers() {
  const running: TestServer[] = [];
  after(() => Promise.all(running.map((server) => server.stop())));
  return async (options: Options = {}, createListener?: CreateListener): Promise<TestServer> => {
    const server = new TestServer(options, createListener);
    running.push(server);
    server.port = Number(new URL(await server.listen(0, '127.0.0.1')).port);
    return server;
  };
}

/** A request whose response the test sends, if {@link holdingServers} has started the server. */
export const HELD: Buffer = request('POST /held', {}, 'some bytes');
export const ALL_BUT_FIVE_BYTES: Buffer = HELD.subarray(0, -5);
export const FIVE_BYTES: Buffer = HELD.subarray(-5);
/** A request to which that server responds at once. It needs no Host. */
export const NEXT = 'GET /next HTTP/1.1\r\n\r\n';

/** Returns a function that starts a server which holds the responses to requests for `/held`. */
export function holdingServers() {
  const start = httpServers();
  return async (options: Options = {}) => {
    const held: ServerResponse[] = [];
    const server = await start(options, () => (req, res) => (req.url === '/held' ? held.push(res) : res.end()));
    return { server, held };
  };
}

/** Returns the bytes of a create. */
export function post(body: string | Uint8Array = newPlant(), headers: Readonly<Record<string, string>> = {}): Buffer {
  return request('POST /plants', { ...CREATE_HEADERS, ...headers }, body);
}

/** Returns the bytes of a create whose body is one chunk. */
export function inChunks(body: string): Buffer {
  return post(chunked(body), { 'Transfer-Encoding': 'chunked' });
}
