import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import type { HttpServerOptions } from '../../../../adapters/driving/http/index.js';
import { type AppOptions, createKoaServer } from '../../../../adapters/driving/koa/index.js';
import { type CreatePlantUseCase, type NewPlant, Plant, type TokenVerifier } from '../../../../core/index.js';
import { exchange, observedResponses, RawClient, type RawResponse, request } from '../../../support/raw-http.js';
import { undeclared } from './description.js';

/** The only token that a {@link TestServer} accepts. */
export const TOKEN = 'koa-test-token';
/** Headers of a valid create. */
export const HEADERS = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' } as const;

export type Options = Partial<AppOptions & HttpServerOptions>;

/** The Koa adapter with a stubbed use case, on a free port. */
export interface TestServer {
  readonly port: number;
  /** What the use case has received. */
  readonly created: readonly NewPlant[];
  stop(timeoutMs?: number): Promise<boolean>;
}

/** Starts a server. Its use case creates every valid plant, unless `options` has another one. */
export async function start(options: Options = {}): Promise<TestServer> {
  const created: NewPlant[] = [];
  const createPlant: CreatePlantUseCase = {
    execute: async (newPlant) => {
      created.push(newPlant);
      return create(newPlant);
    },
  };
  const server = createKoaServer({ createPlant, tokenVerifier, ...options });
  const { port } = await server.listen(0, '127.0.0.1');
  return { port, created, stop: (timeoutMs = 500) => server.stop(timeoutMs) };
}

const create: CreatePlantUseCase['execute'] = async (newPlant) => {
  const result = Plant.from(newPlant);
  return result.kind === 'valid' ? { kind: 'created', plant: result.plant } : result;
};

const tokenVerifier: TokenVerifier = {
  verify: async (token) => (token === TOKEN ? { subject: 'tester' } : undefined),
};

/** Starts one server for all tests of the surrounding suite. */
export function sharedServer(options?: Options): () => TestServer {
  let server: TestServer | undefined;
  before(async () => {
    server = await start(options);
  });
  after(() => server?.stop());
  return () => {
    if (server === undefined) throw new TypeError('call this inside a test');
    return server;
  };
}

/** Returns {@link start}, which stops each server after the test that started it, or after its suite. */
export function startInTest(endsWith: typeof after = afterEach): typeof start {
  const running: TestServer[] = [];
  endsWith(async () => {
    for (const server of running.splice(0)) await server.stop();
  });
  return async (options) => {
    const server = await start(options);
    running.push(server);
    return server;
  };
}

/** Defines a suite, with a test that the description declares every response in it. */
export function httpSuite(title: string, tests: () => void): void {
  describe(title, () => {
    let first = 0;
    before(() => {
      first = observedResponses.length;
    });
    tests();
    it('sends only responses that the description declares, without CORS headers', () => {
      const found = observedResponses.slice(first).flatMap(({ firstLine, response }) => {
        const cors = Object.keys(response.headers).filter((name) => name.startsWith('access-control-'));
        return [...undeclared(response, firstLine), ...cors].map((what) => `${firstLine}: ${what}`);
      });
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

/** Returns the head of a create, without its body. */
export function postHead(headers: Readonly<Record<string, string>>): Buffer {
  return post('', headers);
}

/** Sends bytes over a new connection, and returns the {@link outcome} of the first response. */
export async function send({ port }: { readonly port: number }, bytes: string | Uint8Array = post()): Promise<number> {
  return outcome(await exchange(port, bytes));
}

/** Sends bytes over one connection and returns the {@link outcome} of every response until it closes. */
export async function sendToEnd({ port }: TestServer, bytes: string | Uint8Array): Promise<number[]> {
  return (await (await RawClient.connect(port)).send(bytes).readAllResponses()).map(outcome);
}

/** Returns 200 or the error number. Fails if the response is not a valid one of this service. */
export function outcome(response: RawResponse | undefined): number {
  if (response === undefined) throw new Error('the connection closed without a response');
  expect(response.headers).to.include({ 'content-type': 'application/json' });
  expect(response.headers['x-request-id']).to.match(/^[\w.:-]{1,128}$/);
  if (response.status === 200) return 200;
  const { error, message, ...more }: Record<string, unknown> = Object(response.json());
  expect(more).to.be.empty;
  expect(message).to.be.a('string').and.not.be.empty;
  expect(error).to.be.within(response.status * 100, response.status * 100 + 99);
  return Number(error);
}

/** Retries a create until a permit is free. If none is ever released, the test times out. */
export async function sendWhenFree(server: TestServer): Promise<number> {
  for (;;) {
    const result = await send(server);
    if (result !== 50302) return result;
  }
}

/** Resolves when the server has read everything sent before, because it responded to a later request. */
export async function waitUntilRead(server: TestServer): Promise<void> {
  expect(await send(server, request('GET /plants'))).to.equal(40501);
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
