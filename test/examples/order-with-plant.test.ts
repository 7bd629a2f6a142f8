import type { KnexStorage } from '@plant-store/adapters/knex';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { createTables, placeOrder, relayEvents } from '../../docs/examples/order-with-plant/order.js';
import { catchError } from '../support/catch-error.js';
import { postgresEngine } from '../support/engines.js';

describe('The example order-with-plant', () => {
  const stores = postgresEngine.stores();
  let storage: KnexStorage;
  before(async () => {
    storage = await stores.open(await stores.create());
    await createTables(storage.knex);
  });

  const place = (number: string, id: bigint) => placeOrder(storage.knex, number, { id, name: 'Calathea' });
  const relay = async () => {
    const events: object[] = [];
    await relayEvents(storage.knex, async (event) => {
      events.push(event);
    });
    return events;
  };

  it('stores the order, the plant and the event, and relays the event until it is published', async () => {
    expect(await place('A-1', 2n ** 53n + 1n)).to.equal('placed');
    const event = { type: 'order-placed', number: 'A-1', plantId: '9007199254740993' };
    const failing = relayEvents(storage.knex, () => Promise.reject(new Error('the broker is down')));
    expect(await catchError(failing)).to.match(/the broker is down/);
    expect(await relay()).to.deep.equal([event]);
    expect(await relay()).to.deep.equal([]);
    expect(await storage.knex('orders').select()).to.deep.equal([{ number: 'A-1', plant_id: '9007199254740993' }]);
  });

  it('stores nothing if the plant is not created, or the order is not stored', async () => {
    expect(await place('B-1', 1n)).to.equal('placed');
    await relay();
    expect(await place('B-2', 1n)).to.equal('already-stored');
    expect(await catchError(place('B-1', 2n))).to.have.property('code', '23505');
    expect(await storage.knex('orders').where('number', 'like', 'B-%').pluck('number')).to.deep.equal(['B-1']);
    expect(await storage.knex('plants').where({ id: 2 }).select()).to.deep.equal([]);
    expect(await relay()).to.deep.equal([]);
  });

  it('runs again after a serialization failure', async () => {
    await storage.knex.raw(`CREATE SEQUENCE attempts;
      CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('attempts') = 1 THEN RAISE SQLSTATE '40001'; END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER fail_once BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION fail_once()`);
    expect(await place('C-1', 3n)).to.equal('placed');
    expect(await relay()).to.have.lengthOf(1);
  });
});
