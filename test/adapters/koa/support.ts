import { expect } from 'chai';
import type { Container } from 'inversify';
import { after, afterEach, before } from 'mocha';
import { services } from '../../../composition/container.js';
import type { AddOutcome, Plant, PlantRepository } from '../../../core/index.js';
import { exchange, type RawAnswer, RawClient, request } from '../../support/raw-http.js';
import { type startService, type TestService, TOKEN } from '../../support/service.js';

/** A way of starting the service. */
export type Start = typeof startService;

/** What a create needs beside its body. */
export const HEADERS = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' } as const;

/** One service for all tests of the surrounding suite. */
export function sharedService(start: Start, environment: Readonly<Record<string, string>> = {}): () => TestService {
  let service: TestService | undefined;
  before(async () => {
    service = await start({ SHUTDOWN_TIMEOUT: '500ms', ...environment });
  });
  after(() => service?.stop());
  return () => {
    if (service === undefined) throw new TypeError('the service runs inside tests only');
    return service;
  };
}

/** The same way of starting, for services that end with the test that started them, or with its suite. */
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

/** Beyond every id that a test writes down itself. */
let lastId = 10_000_000;

/** The JSON text of a NewPlant under an id that no other test uses. */
export function newPlant(fields: object = {}): string {
  return JSON.stringify({ id: ++lastId, name: 'Monstera', ...fields });
}

/** The bytes of a create. */
export function post(body: string | Uint8Array = newPlant(), headers: Readonly<Record<string, string>> = {}): Buffer {
  return request('POST /plants', { ...HEADERS, ...headers }, body);
}

/** The head of a create whose body is still to come. */
export function postHead(headers: Readonly<Record<string, string>>): Buffer {
  return post('', headers);
}

/** Sends a create over a connection of its own. */
export function create(
  { port }: TestService,
  body?: string | Uint8Array,
  headers?: Readonly<Record<string, string>>,
): Promise<RawAnswer | undefined> {
  return exchange(port, post(body, headers));
}

/** 200, or the number of an Error; whatever is no proper answer of this service fails here. */
export function verdict(answer: RawAnswer | undefined): number {
  if (answer === undefined) throw new Error('the connection ended without an answer');
  expect(answer.headers).to.include({ 'content-type': 'application/json' });
  expect(answer.headers['x-request-id']).to.match(/^[\w.:-]{1,128}$/);
  if (answer.status === 200) return 200;
  const { error, message, ...more }: Record<string, unknown> = Object(answer.json());
  expect(more).to.be.empty;
  expect(message).to.be.a('string').and.not.be.empty;
  expect(error).to.be.within(answer.status * 100, answer.status * 100 + 99);
  return Number(error);
}

/** Checks that a client is told when to come again, in whole seconds. */
export function expectRetryAfter(answer: RawAnswer | undefined): void {
  expect(answer?.headers['retry-after']).to.match(/^[1-9]\d{0,2}$/);
}

/** Creates again and again until there is a place; one that never comes back ends in the time limit of the test. */
export async function firstServed(service: TestService): Promise<number> {
  for (;;) {
    const result = verdict(await create(service));
    if (result !== 50302) return result;
  }
}

/** Sends everything over one connection, for the verdicts of all answers up to its end. */
export async function verdictsToEnd({ port }: TestService, bytes: string | Uint8Array): Promise<number[]> {
  const client = await RawClient.connect(port);
  return (await client.send(bytes).answersToEnd()).map(verdict);
}

/** Resolves when the service has read what other clients had sent it: it has answered this one. */
export async function servedMeanwhile({ port }: TestService): Promise<void> {
  expect(verdict(await exchange(port, request('GET /plants')))).to.equal(40501);
}

/** Everything that is stored. */
export async function stored({ plants }: TestService): Promise<Pick<Plant, 'id' | 'name' | 'tag'>[]> {
  const all: Pick<Plant, 'id' | 'name' | 'tag'>[] = [];
  for await (const batch of plants.readAll()) all.push(...batch.map(({ id, name, tag }) => ({ id, name, tag })));
  return all;
}

/** Puts `add` before the `add` of the repository that the container has. */
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

/** Holds up whoever passes, until it is opened. */
export class Gate {
  #open: () => void = () => {};
  readonly #opened = new Promise<void>((resolve) => {
    this.#open = resolve;
  });
  #arrived: () => void = () => {};
  /** Resolves when somebody stands before the gate. */
  readonly arrived: Promise<void> = new Promise((resolve) => {
    this.#arrived = resolve;
  });

  /** Waits at the gate. */
  async pass(): Promise<void> {
    this.#arrived();
    await this.#opened;
  }

  open(): void {
    this.#open();
  }

  /** A gate before the check of the first token. */
  beforeFirstVerify(): (container: Container) => void {
    let first = true;
    return (container) =>
      container.rebind(services.TokenVerifier).toResolvedValue(
        (verifier) => ({
          verify: async (token) => {
            const wait = first;
            first = false;
            if (wait) await this.pass();
            return verifier.verify(token);
          },
        }),
        [services.StaticTokens],
      );
  }

  /** A gate before the storage. */
  beforeAdd(): (container: Container) => void {
    return withAdd(async (plants, repository) => {
      await this.pass();
      return repository.add(plants);
    });
  }
}
