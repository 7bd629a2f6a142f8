import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../../adapters/memory/index.js';
import { services } from '../../../composition/container.js';
import { databasesOn, mariadbServer, postgresServer } from '../../support/database-servers.js';
import { answersSeen } from '../../support/raw-http.js';
import { startService } from '../../support/service.js';
import { temporaryFolder } from '../../support/temporary.js';
import { undeclared } from './description.js';
import { httpSuite } from './http-suite.js';

describe('The HTTP adapter', () => {
  const folder = temporaryFolder();
  let files = 0;
  const onSqlite = (environment: Readonly<Record<string, string>> = {}) => ({
    DATABASE_URL: `sqlite:${join(folder, `${++files}.db`)}`,
    ...environment,
  });

  httpSuite('on SQLite', (environment, rebind) => startService(onSqlite(environment), rebind));

  httpSuite('with the repository alone rebound to the memory adapter', (environment, rebind) =>
    startService(onSqlite(environment), (container) => {
      container.rebind(services.PlantRepository).toConstantValue(new MemoryPlantRepository());
      rebind?.(container);
    }),
  );

  for (const server of [postgresServer, mariadbServer]) {
    describe(`with a database on a server`, () => {
      const databases = databasesOn(server);
      httpSuite(`on ${server.name}`, async (environment, rebind) =>
        startService({ DATABASE_URL: await databases.create(), ...environment }, rebind),
      );
    });
  }

  // A suite's own tests run before those of the suites in it.
  describe('in all these tests', () => {
    it('sent no CORS header', () => {
      const names = new Set(answersSeen.flatMap(({ answer }) => Object.keys(answer.headers)));
      expect([...names].filter((name) => name.startsWith('access-control-'))).to.deep.equal([]);
    });

    it('gave no answer to POST /plants that its description does not declare', () => {
      // 404 and 405 belong to no operation; here they answer under a BASE_PATH, or a later request of the connection.
      const others = [100, 404, 405];
      const toPlants = answersSeen.filter(
        ({ firstLine, answer }) =>
          /^POST \/plants(\?\S*)? HTTP\/1\.[01]$/.test(firstLine) && !others.includes(answer.status),
      );
      const wrong = toPlants.map(({ firstLine, answer }) => ({
        firstLine,
        status: answer.status,
        not: undeclared(answer),
      }));
      expect(toPlants).to.not.be.empty;
      expect(wrong.filter(({ not }) => not.length > 0)).to.deep.equal([]);
    });
  });
});
