import { inspect } from 'node:util';
import { StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../../../support/catch-error.js';
import { openStore, serverEngines } from '../../../support/engines.js';
import { FaultyProxy } from '../../../support/faulty-proxy.js';
import { toPlant } from '../../../support/plants.js';
import { CANARY } from '../../../support/secret-leaks.js';

describe('A storage on a server', () => {
  for (const engine of serverEngines) {
    describe(engine.name, () => {
      const isPostgres = engine.client === 'pg';
      const stores = engine.stores();

      it('is ready again without a restart, although a session keeps the rights with which it began', async () => {
        const store = await stores.create();
        await stores.open(store);
        const user = await stores.createUser(store);
        const readOnly = 'default_transaction_read_only';
        const [restrict, allow] = isPostgres
          ? [`ALTER ROLE ${user.username} SET ${readOnly} = on`, `ALTER ROLE ${user.username} RESET ${readOnly}`]
          : [`REVOKE INSERT, UPDATE ON * FROM ${user.username}`, `GRANT INSERT, UPDATE ON * TO ${user.username}`];
        await store.run(restrict);
        const [storage, { knex }] = [await stores.open(user), await stores.open(user)];
        const plants = [toPlant({ id: 2n, name: 'Aloe' })];
        const insert = () => knex('plants').insert({ id: 1, name: 'Aloe' });
        expect(await catchError(insert())).to.be.instanceOf(Error);
        expect(await catchError(storage.add(plants))).to.be.instanceOf(StorageUnavailable);
        expect(await catchError(storage.ready())).to.be.instanceOf(StorageUnavailable);
        await store.run(allow);
        await storage.ready();
        await insert();
        expect(await storage.add(plants)).to.deep.equal([{ kind: 'added' }]);
      });

      it('says why it does not open, without the password', async () => {
        const proxy = await FaultyProxy.to(engine.url);
        const url = new URL(proxy.toProxiedUrl(engine.url));
        Object.assign(url, { pathname: '/missing', password: CANARY });
        const failToOpen = async (timeoutMs?: number) => {
          const error = await catchError(openStore(url.href, { timeoutMs }));
          expect(error).to.be.instanceOf(StorageUnavailable);
          expect(inspect(error)).not.to.include(CANARY);
          return error;
        };
        const reason = /: (database "missing" does not exist|Access denied for user 'root'@)/;
        expect(`${await failToOpen()}`).to.match(reason);
        proxy.losePackets();
        expect(await failToOpen(100)).to.have.nested.property('cause.code', 'ETIMEDOUT');
        await proxy.refuseConnections();
        expect(await failToOpen()).to.have.nested.property('cause.code', 'ECONNREFUSED');
      });
    });
  }
});
