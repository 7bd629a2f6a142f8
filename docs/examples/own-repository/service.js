import pg from 'pg';
import { BatchingPlantRepository } from 'plant-store/adapters/batching';
import { createContainer, readConfig, services } from 'plant-store/composition';
import { GardenRepository } from './garden-repository.js';

const config = readConfig(process.env);
const container = createContainer(config);

const openGarden = (log) => {
  const pool = new pg.Pool({ connectionString: process.env.GARDEN_URL });
  pool.on('error', (error) => log.error({ err: error }, 'a connection to the garden broke'));
  return new BatchingPlantRepository(new GardenRepository(pool));
};
container.rebind(services.PlantRepository).toResolvedValue(openGarden, [services.Logger]).inSingletonScope();

const repository = await container.getAsync(services.PlantRepository);
const server = await container.getAsync(services.HttpServer);
const { port } = await server.listen(config.port, config.host);
console.log(`listens on http://${config.host}:${port}`);
process.once('SIGTERM', () => server.stop(config.shutdownTimeoutMs).then(() => repository.close()));
