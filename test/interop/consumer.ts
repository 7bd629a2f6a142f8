/**
 * A program that embeds the package. package.test.ts compiles it against the tarball; it never runs. Each line that must
 * not compile proves that an entry point has types; without them, everything would be `any`.
 */

import { openApiDescription, PlantCodec } from 'plant-store/adapters/api';
import { BatchingPlantRepository } from 'plant-store/adapters/batching';
import { JwtVerifier } from 'plant-store/adapters/jwt';
import { type Engine, openRepository, sqlite, sqliteDatabase } from 'plant-store/adapters/knex';
import { AdmissionControl, createApp, createPlantRouter, toHttpError } from 'plant-store/adapters/koa';
import { MemoryPlantRepository } from 'plant-store/adapters/memory';
import { StaticTokenVerifier } from 'plant-store/adapters/static-token';
import { type Config, createContainer, type Plugin, readConfig, services } from 'plant-store/composition';
import { type ContractCase, type PlantRepositoryHarness, plantRepositoryContract } from 'plant-store/contract';
import { type HttpContractTarget, httpContract } from 'plant-store/contract/http';
import { CreatePlant, type CreatePlantOutcome, type Plant, type PlantRepository } from 'plant-store/core';

export const repository: PlantRepository = new BatchingPlantRepository(new MemoryPlantRepository(), { maxWrites: 2 });
export const createPlant = new CreatePlant(repository);
export const outcome: CreatePlantOutcome = await createPlant.execute({ id: 1n, name: 'Monstera' });
export const created: Plant | undefined = outcome.kind === 'created' ? outcome.plant : undefined;

// @ts-expect-error core: an id is a bigint
createPlant.execute({ id: 1, name: 'Monstera' });
// @ts-expect-error adapters/memory: a Plant, not an object literal
new MemoryPlantRepository().add([{ id: 1n, name: 'Monstera' }]);
// @ts-expect-error adapters/batching: no such option
new BatchingPlantRepository(repository, { readsMax: 1 });

const description = openApiDescription;
const options = {
  createPlant,
  tokenVerifier: new StaticTokenVerifier(['secret-token']),
  codec: new PlantCodec(description),
  description,
  admission: new AdmissionControl({ maxPending: 1, maxPendingBytes: 1 }),
  basePath: '',
  bodyLimitBytes: 1,
  storageTimeoutMs: 1,
};
export const app = createApp({ ...options, log: console });
app.use(createPlantRouter(options).routes()).use((ctx) => {
  ctx.body = toHttpError(new Error()).apiError;
  // @ts-expect-error adapters/koa: the types of Koa are available, too
  ctx.status = '200';
});
// @ts-expect-error adapters/koa: the log is missing
createApp(options);
// @ts-expect-error adapters/static-token: a list of tokens, not a string
new StaticTokenVerifier('secret-token');
// @ts-expect-error adapters/jwt: a URL, not a string
new JwtVerifier({ issuer: 'https://issuer.example', audience: 'plants', jwksUrl: 'https://issuer.example/keys' });

export const engine: Engine = { ...sqlite, maxWrites: 2 };
export const opened: PlantRepository = await openRepository(sqliteDatabase({ path: 'plants.db', timeoutMs: 1 }));
// @ts-expect-error adapters/knex: the timeout is missing
sqliteDatabase({ path: 'plants.db' });

const config: Config = readConfig({ PORT: '0' });
const container = createContainer(config);
(await container.rebind(services.PlantRepository)).toConstantValue(repository);
export const server: { readonly isStopping: boolean } = await container.getAsync(services.HttpServer);
// @ts-expect-error composition: a service identifier determines the bound type
container.bind(services.CreatePlant).toConstantValue(repository);

export const plugin: Plugin = async (bindings) => {
  // @ts-expect-error composition: a plugin binds a repository to the storage
  bindings.rebind(services.Storage).toConstantValue({ ready: async () => {} });
};

export const cases: readonly ContractCase<PlantRepositoryHarness>[] = plantRepositoryContract;
// @ts-expect-error contract: a case needs a harness
cases[0]?.run({});

export const target: HttpContractTarget = { baseUrl: 'https://plants.example', token: 'secret-token' };
// @ts-expect-error contract/http: the token is missing
httpContract[0]?.run({ baseUrl: target.baseUrl });
