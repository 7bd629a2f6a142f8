import { joinTransaction } from '@plant-store/adapters/knex';
import { openStore } from '../../../support/engines.js';
import { toPlant } from '../../../support/plants.js';

// Stores an order and a plant in one transaction, reports it, and waits to be killed before it commits.
const { knex } = await openStore(`${process.argv[2]}`);
const transaction = await knex.transaction();
await transaction('orders').insert({ number: 1 });
await joinTransaction(transaction).add([toPlant({ id: 1n, name: 'Monstera' })]);
console.log('added');
setInterval(() => {}, 60_000);
