import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import {
  HttpApi,
  type HttpApiOptions,
  type HttpServerOptions,
  NodeHttpServer,
} from '../../../../adapters/driving/http/index.js';
import { createKoaApp } from '../../../../adapters/driving/koa/index.js';
import { type CreatePlantUseCase, type NewPlant, Plant, type TokenVerifier } from '../../../../core/index.js';
import type { ResponseObserver } from '../../../contract/http/connection.js';
import { exchange, RawClient, type RawResponse, request } from '../../../support/raw-http.js';
import { undeclared } from './description.js';

/** The only token that a {@link TestServer} accepts. */
export const TOKEN = 'koa-test-token';
/** Headers of a valid create. */
export const HEADERS = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' } as const;

export type Options = Partial<HttpApiOptions & HttpServerOptions>;

const create = async (newPlant: NewPlant): ReturnType<CreatePlantUseCase['execute']> => {
  const result = Plant.from(newPlant);
  return result.kind === 'valid' ? { kind: 'created', plant: result.plant } : result;
};

const tokenVerifier: TokenVerifier = {
  verify: async (token) =>
    token === TOKEN
      ? { kind: 'valid', principal: { subject: 'tester' } }
      : { kind: 'invalid', reason: 'another token' },
};

/** The options of an API with a use case that creates every valid plant. */
export const API_OPTIONS: HttpApiOptions = { createPlant: { execute: create }, tokenVerifier };

/** The Koa adapter with a use case that creates every valid plant, on a free port. */
export class TestServer {
  readonly api: HttpApi;
  readonly #server: NodeHttpServer;
  readonly #observe: ResponseObserver | undefined;
  port = 0;

  private constructor(options: Options, observe?: ResponseObserver) {
    this.#observe = observe;
    this.api = new HttpApi({ ...API_OPTIONS, ...options });
    const listener = createKoaApp(this.api).callback();
    this.#server = new NodeHttpServer(listener, { shutdownTimeoutMs: 500, ...options, api: this.api });
  }

  static async start(options: Options = {}, observe?: ResponseObserver): Promise<TestServer> {
    const server = new TestServer(options, observe);
    server.port = Number(new URL(await server.#server.listen(0, '127.0.0.1')).port);
    return server;
  }

  /** Number of open connections. */
  get connections(): number | undefined {
    return this.#server.connections;
  }

  get isStopping(): boolean {
    return this.#server.isStopping;
  }

  stop(): Promise<void> {
    return this.#server.stop();
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

  /** Retries a create until a permit is free. If none is ever released, the test times out. */
  async sendWhenFree(bytes?: string | Uint8Array): Promise<number | undefined> {
    for (;;) {
      const outcome = await this.send(bytes);
      if (outcome !== 50302) return outcome;
    }
  }

  /** Resolves when the server has read everything sent before, because it responded to a later request. */
  async waitUntilRead(): Promise<void> {
    expect(await this.send(request('GET /plants'))).to.equal(40501);
  }
}

/** Reads the outcome of every response until the connection closes. */
export async function readOutcomes(client: RawClient): Promise<number[]> {
  return (await client.readAllResponses()).map(({ outcome }) => outcome);
}

/** The servers of a suite. */
export interface Servers {
  /** Returns the server that all tests of the suite share. */
  readonly server: () => TestServer;
  /** Starts another server, which stops after the suite. */
  readonly start: (options?: Options) => Promise<TestServer>;
  /** Adds a response to those that the last test of the suite checks. */
  readonly observe: ResponseObserver;
}

/**
 * Defines a suite, and a test that the description declares every response in it.
 *
 * @param options of the shared server
 */
export function httpSuite(title: string, options: Options, tests: (servers: Servers) => void): void {
  describe(title, () => {
    const running: TestServer[] = [];
    let shared: TestServer;
    // Checked at the end, because compiling the schemas would delay the timeouts of tests.
    const observed: Parameters<ResponseObserver>[] = [];
    const observe: ResponseObserver = (...response) => observed.push(response);
    const start = async (own?: Options) => {
      const server = await TestServer.start(own, observe);
      running.push(server);
      return server;
    };
    before(async () => {
      shared = await start(options);
    });
    after(() => Promise.all(running.map((server) => server.stop())));
    tests({ observe, server: () => shared, start });
    it('every response in these tests is one that the description declares', () => {
      const found = observed.flatMap(([response, firstLine]) =>
        undeclared(response, firstLine).map((what) => `${firstLine}: ${what}`),
      );
      expect(found).to.deep.equal([]);
    });
  });
}

/** Above every literal id in the tests. */
let lastId = 10_000_000;

/** Returns the JSON text of a NewPlant with a unique id. */
export function newPlant(fields: object = {}): string {
  return JSON.stringify({ id: ++lastId, name: 'Monstera', ...fields });
}

/** Returns the bytes of a create. */
export function post(body: string | Uint8Array = newPlant(), headers: Readonly<Record<string, string>> = {}): Buffer {
  return request('POST /plants', { ...HEADERS, ...headers }, body);
}

/** Frames bytes as one chunk. */
export function chunk(bytes: string | Uint8Array): Buffer {
  const data = Buffer.from(bytes);
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')]);
}

/** Blocks calls until it is opened. */
export class Gate {
  open: () => void = () => {};
  readonly #opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
  #arrive: () => void = () => {};
  /** Resolves when the first call is blocked. */
  readonly arrived: Promise<void> = new Promise((resolve) => {
    this.#arrive = resolve;
  });

  /** Blocks until {@link open}. */
  async pass(): Promise<void> {
    this.#arrive();
    await this.#opened;
  }

  /** A use case that is blocked. */
  readonly createPlant: CreatePlantUseCase = {
    execute: async (newPlant) => {
      await this.pass();
      return create(newPlant);
    },
  };

  /** A token verifier whose first call is blocked. */
  beforeFirstVerify(): TokenVerifier {
    let isFirst = true;
    return {
      verify: async (token) => {
        const isBlocked = isFirst;
        isFirst = false;
        if (isBlocked) await this.pass();
        return tokenVerifier.verify(token);
      },
    };
  }
}
