/**
 * A program of somebody who embeds the package. package.test.ts compiles it against the tarball; it never runs. Each line
 * that must not compile shows that the types of an entry point are there: without them, all would be `any`.
 */
import { BatchingPlantRepository } from 'plant-store/adapters/batching';
import { JwtVerifier } from 'plant-store/adapters/jwt';
import { type Engine, openRepository, sqlite, sqliteDatabase } from 'plant-store/adapters/knex';
import { Admission, createApp, loadDescription, PlantCodec, plantRouter, refusalOf } from 'plant-store/adapters/koa';
import { MemoryPlantRepository } from 'plant-store/adapters/memory';
import { StaticTokenVerifier } from 'plant-store/adapters/static-token';
import { type Config, createContainer, readConfig, services } from 'plant-store/composition';
import { type ContractCase, type PlantRepositoryHarness, plantRepositoryContract } from 'plant-store/contract';
import { CreatePlant, type CreatePlantOutcome, type Plant, type PlantRepository } from 'plant-store/core';

export const plants: PlantRepository = new BatchingPlantRepository(new MemoryPlantRepository(), { writesMax: 2 });
export const createPlant = new CreatePlant(plants);
export const outcome: CreatePlantOutcome = await createPlant.execute({ id: 1n, name: 'Monstera' });
export const created: Plant | undefined = outcome.kind === 'created' ? outcome.plant : undefined;

// @ts-expect-error core: an id is a bigint
createPlant.execute({ id: 1, name: 'Monstera' });
// @ts-expect-error adapters/memory: it takes plants, not promises of them
new MemoryPlantRepository().add([{ id: 1n, name: 'Monstera' }]);
// @ts-expect-error adapters/batching: no such limit
new BatchingPlantRepository(plants, { readsMax: 1 });

const description = loadDescription();
const options = {
  createPlant,
  tokenVerifier: new StaticTokenVerifier(['secret-token']),
  codec: new PlantCodec(description),
  description,
  admission: new Admission({ maxPending: 1, maxPendingBytes: 1 }),
  basePath: '',
  bodyLimitBytes: 1,
  storageTimeoutMs: 1,
};
export const app = createApp({ ...options, log: console });
app.use(plantRouter(options).routes()).use((ctx) => {
  ctx.body = refusalOf(new Error()).rejection;
  // @ts-expect-error adapters/koa: the types of Koa are there too
  ctx.status = '200';
});
// @ts-expect-error adapters/koa: a log is missing
createApp(options);
// @ts-expect-error adapters/static-token: a list
new StaticTokenVerifier('secret-token');
// @ts-expect-error adapters/jwt: a URL
new JwtVerifier({ issuer: 'https://issuer.example', audience: 'plants', jwksUrl: 'https://issuer.example/keys' });

export const engine: Engine = { ...sqlite, writesMax: 2 };
export const opened: PlantRepository = await openRepository(sqliteDatabase({ path: 'plants.db', timeoutMs: 1 }));
// @ts-expect-error adapters/knex: no timeout
sqliteDatabase({ path: 'plants.db' });

const config: Config = readConfig({ PORT: '0' });
const container = createContainer(config);
(await container.rebind(services.PlantRepository)).toConstantValue(plants);
export const server: { readonly isStopping: boolean } = await container.getAsync(services.HttpServer);
// @ts-expect-error composition: the name says what is bound to it
container.bind(services.CreatePlant).toConstantValue(plants);

export const cases: readonly ContractCase<PlantRepositoryHarness>[] = plantRepositoryContract;
// @ts-expect-error contract: a case needs a harness
cases[0]?.run({});
