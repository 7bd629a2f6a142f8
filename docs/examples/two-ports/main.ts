import type { AddressInfo } from 'node:net';
import { createApp } from './adapters/http.js';
import { SqlitePlantRepository } from './adapters/sqlite.js';
import { CreatePlant } from './core/create-plant.js';

const { PORT = '3000', DATABASE_FILE = 'plants.db', ACCESS_TOKEN, GROUP_COMMIT } = process.env;
if (!ACCESS_TOKEN) throw new Error('ACCESS_TOKEN is missing');

const repository = await SqlitePlantRepository.open(DATABASE_FILE, { groupCommit: GROUP_COMMIT === 'on' });
const app = createApp(new CreatePlant(repository), ACCESS_TOKEN);
const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`listens on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('SIGTERM', () => server.close(() => repository.close()));
