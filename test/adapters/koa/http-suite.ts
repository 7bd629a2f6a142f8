import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../../adapters/memory/index.js';
import { services } from '../../../composition/container.js';
import { type HttpResponse, responseObservers } from '../../contract/http/connection.js';
import type { HttpContractCase } from '../../contract/http/index.js';
import { testEngines } from '../../support/engines.js';
import { observedResponses } from '../../support/raw-http.js';
import { startService, type TestService, TOKEN } from '../../support/service.js';
import { temporaryFolder } from '../../support/temporary.js';
import { undeclared } from './description.js';
import type { Start } from './support.js';

/** Defines tests of the HTTP interface, on SQLite. */
export function httpSuite(subject: string, tests: (start: Start) => void): void {
  describe(`HTTP: ${subject}`, () => suiteOn(onSqlite(), tests));
}

/**
 * Defines tests that depend on the storage, once for each engine of this run. If SQLite is one of them, also defines
 * them for the memory adapter, bound as by a plugin.
 */
export function storageSuite(subject: string, tests: (start: Start) => void): void {
  describe(`HTTP: ${subject}`, () => {
    for (const engine of testEngines) {
      describe(`on ${engine.name}`, () => {
        const stores = engine.stores();
        suiteOn(
          async (environment, rebind) =>
            startService({ DATABASE_URL: (await stores.create()).url, ...environment }, rebind),
          tests,
        );
      });
    }
    if (!testEngines.some(({ name }) => name === 'SQLite')) return;
    describe('on the memory adapter, rebound', () => {
      const start = onSqlite();
      suiteOn(
        (environment, rebind) =>
          start(environment, (container) => {
            container.rebind(services.PlantRepository).toConstantValue(new MemoryPlantRepository());
            rebind?.(container);
          }),
        tests,
      );
    });
  });
}

/** Defines one test per case of the HTTP contract. Call it inside {@link httpSuite} or {@link storageSuite}. */
export function runHttpContract(contract: readonly HttpContractCase[], service: () => TestService): void {
  const observe = (firstLine: string, { status, headers, body }: HttpResponse) =>
    observedResponses.push({ firstLine, response: { status, headers, body, json: () => JSON.parse(body) } });
  before(() => responseObservers.add(observe));
  after(() => responseObservers.delete(observe));
  for (const { group, name, timeoutMs, run } of contract) {
    it(`${group}: ${name}`, () => run({ baseUrl: `http://127.0.0.1:${service().port}`, token: TOKEN })).timeout(
      timeoutMs,
    );
  }
}

function onSqlite(): Start {
  const folder = temporaryFolder();
  let files = 0;
  return (environment, rebind) =>
    startService({ DATABASE_URL: `sqlite:${join(folder, `${++files}.db`)}`, ...environment }, rebind);
}

/** Defines the tests, then checks of every response that they received. */
function suiteOn(start: Start, tests: (start: Start) => void): void {
  let first = 0;
  before(() => {
    first = observedResponses.length;
  });
  tests(start);

  describe('every response', () => {
    it('has no CORS header', () => {
      const names = new Set(observedResponses.slice(first).flatMap(({ response }) => Object.keys(response.headers)));
      expect([...names].filter((name) => name.startsWith('access-control-'))).to.deep.equal([]);
    });

    it('to POST /plants is declared in the description', () => {
      // 404 and 405 belong to no operation: BASE_PATH causes them, or they are for a later request of a connection.
      const others = [100, 404, 405];
      const toPlants = observedResponses
        .slice(first)
        .filter(
          ({ firstLine, response }) =>
            /^POST \/plants(\?\S*)? HTTP\/1\.[01]$/.test(firstLine) && !others.includes(response.status),
        );
      const undeclaredOnes = toPlants
        .map(({ firstLine, response }) => ({ firstLine, status: response.status, undeclared: undeclared(response) }))
        .filter((response) => response.undeclared.length > 0);
      expect(undeclaredOnes).to.deep.equal([]);
    });
  });
}
