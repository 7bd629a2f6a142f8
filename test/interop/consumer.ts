/**
 * A program that embeds the package. package.test.ts compiles it against the tarball; it never runs. Each line that must
 * not compile proves that an entry point has types; without them, everything would be `any`.
 */

import { apiErrors, type Operation, openApiDescription, operationsOf } from 'plant-store/adapters/api';
import { BatchingPlantRepository } from 'plant-store/adapters/batching';
import { ApiException } from 'plant-store/adapters/http';
import { JwtVerifier } from 'plant-store/adapters/jwt';
import { type Engine, openRepository, sqlite, sqliteDatabase } from 'plant-store/adapters/knex';
import { createApp } from 'plant-store/adapters/koa';
import { MemoryPlantRepository } from 'plant-store/adapters/memory';
import { StaticTokenVerifier } from 'plant-store/adapters/static-token';
import { type Config, createContainer, type Plugin, readConfig, services } from 'plant-store/composition';
import { type ContractCase, type PlantRepositoryHarness, plantRepositoryContract } from 'plant-store/contract';
import { type HttpContractTarget, httpContract } from 'plant-store/contract/http';
import { CreatePlant, type CreatePlantOutcome, type PlantRepository } from 'plant-store/core';

export const repository: PlantRepository = new BatchingPlantRepository(new MemoryPlantRepository(), { maxWrites: 2 });
export const createPlant = new CreatePlant(repository);
export const outcome: CreatePlantOutcome = await createPlant.execute({ id: 1n, name: 'Monstera' });
// @ts-expect-error core: an id is a bigint
createPlant.execute({ id: 1, name: 'Monstera' });
// @ts-expect-error adapters/driven/memory: a Plant, not an object literal
new MemoryPlantRepository().add([{ id: 1n, name: 'Monstera' }]);
// @ts-expect-error adapters/driven/batching: no such option
new BatchingPlantRepository(repository, { readsMax: 1 });

export const operations: readonly Operation[] = operationsOf(openApiDescription);
const options = { createPlant, tokenVerifier: new StaticTokenVerifier(['secret-token']) };
export const app = createApp({ ...options, log: console });
app.use((ctx) => {
  ctx.body = new ApiException(apiErrors.noSuchPath).apiError;
  // @ts-expect-error adapters/driving/koa: the types of Koa are available, too
  ctx.status = '200';
});
// @ts-expect-error adapters/driving/koa: the token verifier is missing
createApp({ createPlant });
// @ts-expect-error adapters/driven/static-token: a list of tokens, not a string
new StaticTokenVerifier('secret-token');
// @ts-expect-error adapters/driven/jwt: a URL, not a string
new JwtVerifier({ issuer: 'https://issuer.example', audience: 'plants', jwksUrl: 'https://issuer.example/keys' });

export const engine: Engine = { ...sqlite, maxWrites: 2 };
export const opened: PlantRepository = await openRepository(sqliteDatabase({ path: 'plants.db', timeoutMs: 1 }));
// @ts-expect-error adapters/driven/knex: the timeout is missing
sqliteDatabase({ path: 'plants.db' });

const config: Config = readConfig({ PORT: '0' });
const container = createContainer(config);
(await container.rebind(services.PlantRepository)).toConstantValue(repository);
export const server: { readonly isStopping: boolean } = await container.getAsync(services.HttpServer);
// @ts-expect-error composition: a service identifier determines the bound type
container.bind(services.CreatePlant).toConstantValue(repository);

// @ts-expect-error composition: a plugin binds a repository to the storage
export const plugin: Plugin = (bindings) => bindings.rebind(services.Storage).toConstantValue({});

const harness: PlantRepositoryHarness = {
  open: () => openRepository(sqliteDatabase({ path: 'plants.db', timeoutMs: 1 })),
};
export const cases: readonly ContractCase[] = plantRepositoryContract(harness).cases;
// @ts-expect-error contract: a harness opens a repository
plantRepositoryContract({});

export const target: Omit<HttpContractTarget, 'token'> = { baseUrl: 'https://plants.example' };
// @ts-expect-error contract/http: the token is missing
httpContract[0]?.run(target);
