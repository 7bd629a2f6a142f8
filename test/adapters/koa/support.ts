import { expect } from 'chai';
import type { Container } from 'inversify';
import { after, afterEach, before } from 'mocha';
import { services } from '../../../composition/container.js';
import type { AddOutcome, Plant, PlantRepository } from '../../../core/index.js';
import { exchange, RawClient, type RawResponse, request } from '../../support/raw-http.js';
import { type startService, type TestService, TOKEN } from '../../support/service.js';

/** Starts the service. */
export type Start = typeof startService;

/** Headers of a valid create. */
export const HEADERS = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' } as const;

/** Starts one service for all tests of the surrounding suite. */
export function sharedService(start: Start, environment: Readonly<Record<string, string>> = {}): () => TestService {
  let service: TestService | undefined;
  before(async () => {
    service = await start({ SHUTDOWN_TIMEOUT: '500ms', ...environment });
  });
  after(() => service?.stop());
  return () => {
    if (service === undefined) throw new TypeError('call this inside a test');
    return service;
  };
}

/** Wraps `start` to stop each service after the test that started it, or after its suite. */
export function startInTest(start: Start, endsWith: typeof after = afterEach): Start {
  const running: TestService[] = [];
  endsWith(async () => {
    for (const service of running.splice(0)) await service.stop();
  });
  return async (environment = {}, rebind) => {
    const service = await start({ SHUTDOWN_TIMEOUT: '500ms', ...environment }, rebind);
    running.push(service);
    return service;
  };
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

/** Returns the headers of a create without its body. */
export function postHead(headers: Readonly<Record<string, string>>): Buffer {
  return post('', headers);
}

/** Sends a create over a new connection. */
export function create(
  { port }: TestService,
  body?: string | Uint8Array,
  headers?: Readonly<Record<string, string>>,
): Promise<RawResponse | undefined> {
  return exchange(port, post(body, headers));
}

/** Returns 200 or the error number. Fails if the response is not a valid one of this service. */
export function verdict(response: RawResponse | undefined): number {
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

/** Checks that the response has `Retry-After` in whole seconds. */
export function expectRetryAfter(response: RawResponse | undefined): void {
  expect(response?.headers['retry-after']).to.match(/^[1-9]\d{0,2}$/);
}

/** Retries a create until a permit is free. If none is ever released, the test times out. */
export async function createWhenFree(service: TestService): Promise<number> {
  for (;;) {
    const result = verdict(await create(service));
    if (result !== 50302) return result;
  }
}

/** Sends bytes over one connection and returns the verdicts of all responses until it closes. */
export async function verdictsToEnd({ port }: TestService, bytes: string | Uint8Array): Promise<number[]> {
  const client = await RawClient.connect(port);
  return (await client.send(bytes).readAllResponses()).map(verdict);
}

/** Resolves when the service has read everything sent before, because it responded to a later request. */
export async function waitUntilRead({ port }: TestService): Promise<void> {
  expect(verdict(await exchange(port, request('GET /plants')))).to.equal(40501);
}

/** Returns all stored plants. */
export async function stored({ repository }: TestService): Promise<Pick<Plant, 'id' | 'name' | 'tag'>[]> {
  const all: Pick<Plant, 'id' | 'name' | 'tag'>[] = [];
  for await (const batch of repository.readAll()) all.push(...batch.map(({ id, name, tag }) => ({ id, name, tag })));
  return all;
}

/** Wraps the repository's `add`. */
export function withAdd(
  add: (plants: readonly Plant[], repository: PlantRepository) => Promise<readonly AddOutcome[]>,
): (container: Container) => void {
  return (container) =>
    container.onActivation(services.PlantRepository, (_, repository) => ({
      add: (plants) => add(plants, repository),
      readAll: () => repository.readAll(),
      ready: () => repository.ready(),
      close: () => repository.close(),
    }));
}

/** Blocks calls until it is opened. */
export class Gate {
  #open: () => void = () => {};
  readonly #opened = new Promise<void>((resolve) => {
    this.#open = resolve;
  });
  #arrived: () => void = () => {};
  /** Resolves when the first call is blocked. */
  readonly arrived: Promise<void> = new Promise((resolve) => {
    this.#arrived = resolve;
  });

  /** Blocks until {@link open}. */
  async pass(): Promise<void> {
    this.#arrived();
    await this.#opened;
  }

  open(): void {
    this.#open();
  }

  /** Blocks the first token verification. */
  beforeFirstVerify(): (container: Container) => void {
    let first = true;
    return (container) =>
      container.rebind(services.TokenVerifier).toResolvedValue(
        (verifier) => ({
          verify: async (token) => {
            const isFirst = first;
            first = false;
            if (isFirst) await this.pass();
            return verifier.verify(token);
          },
        }),
        [services.StaticTokens],
      );
  }

  /** Blocks the repository's `add`. */
  beforeAdd(): (container: Container) => void {
    return withAdd(async (plants, repository) => {
      await this.pass();
      return repository.add(plants);
    });
  }
}
