/**
 * A program that embeds the package. package.test.ts compiles it against the tarball; it never runs. Each line that must
 * not compile proves that an entry point has types; without them, everything would be `any`.
 */

import { apiErrors } from 'plant-store/adapters/api';
import { BatchingPlantRepository } from 'plant-store/adapters/batching';
import { HttpApi, type Reply } from 'plant-store/adapters/http';
import { JwtVerifier } from 'plant-store/adapters/jwt';
import { openSqlite } from 'plant-store/adapters/knex';
import { createKoaApp } from 'plant-store/adapters/koa';
import { MemoryPlantRepository } from 'plant-store/adapters/memory';
import { StaticTokenVerifier } from 'plant-store/adapters/static-token';
import { createContainer, httpModule, type Plugin, readConfig, services } from 'plant-store/composition';
import { type ContractCase, plantRepositoryContract } from 'plant-store/contract';
import { httpContract } from 'plant-store/contract/http';
import { CreatePlant, type CreatePlantOutcome, type PlantRepository, type PlantStorage } from 'plant-store/core';

export const repository: PlantRepository = new BatchingPlantRepository(new MemoryPlantRepository(), { maxWrites: 2 });
export const createPlant = new CreatePlant(repository);
export const outcome: CreatePlantOutcome = await createPlant.execute({ id: 1n, name: 'Monstera' });
// @ts-expect-error core: an id is a bigint
createPlant.execute({ id: 1, name: 'Monstera' });
// @ts-expect-error adapters/memory: a Plant, not an object literal
new MemoryPlantRepository().add([{ id: 1n, name: 'Monstera' }]);
// @ts-expect-error adapters/batching: no such option
new BatchingPlantRepository(repository, { readsMax: 1 });

const api = new HttpApi({ createPlant, tokenVerifier: new StaticTokenVerifier(['secret-token']) });
export const app = createKoaApp(api);
app.use((ctx) => {
  ctx.body = apiErrors.noSuchPath;
  // @ts-expect-error adapters/koa: the types of Koa are available, too
  ctx.status = '200';
});
// @ts-expect-error adapters/koa: the HTTP API, not its options
createKoaApp({ createPlant });
// @ts-expect-error adapters/api: an Error object, not a string
export const message: string = apiErrors.noSuchPath;
// @ts-expect-error adapters/http: the token verifier is missing
new HttpApi({ createPlant });
// @ts-expect-error adapters/http: the status is missing
export const reply: Reply = { headers: {}, body: '' };
// @ts-expect-error adapters/static-token: a list of tokens, not a string
new StaticTokenVerifier('secret-token');
// @ts-expect-error adapters/jwt: a URL, not a string
new JwtVerifier({ issuer: 'https://issuer.example', audience: 'plants', jwksUrl: 'https://issuer.example/keys' });

export const opened: PlantStorage = await openSqlite({ path: 'plants.db' });
// @ts-expect-error adapters/knex: the path is missing
openSqlite({ timeoutMs: 1 });

const container = await createContainer(readConfig({ PORT: '0' }), httpModule);
export const server: { stop(): Promise<void> } = await container.getAsync(services.HttpServer);
// Plain objects satisfy what a plugin replaces.
container.rebind(services.PlantCodec).toConstantValue({
  decodeNewPlant: () => ({ kind: 'rejected', error: apiErrors.notJson }),
  encodeNewPlant: ({ name }) => name,
  encodePlant: ({ name }) => name,
});
container.rebind(services.Metrics).toConstantValue({
  gauge() {},
  counter: () => () => {},
  histogram: () => () => {},
  contentType: 'text/plain',
  text: async () => '',
});
// @ts-expect-error composition: a service identifier determines the bound type
container.bind(services.CreatePlant).toConstantValue(repository);
// @ts-expect-error composition: a plugin gets a container
export const plugin: Plugin = (bindings: string) => bindings;

export const cases: readonly ContractCase[] = plantRepositoryContract({ open: async () => opened }).cases;
// @ts-expect-error contract: a harness opens a repository
plantRepositoryContract({});
// @ts-expect-error contract/http: the token is missing
httpContract[0]?.run({ baseUrl: 'https://plants.example' });
