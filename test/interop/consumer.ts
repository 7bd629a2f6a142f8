/**
 * A program that embeds the packages. packages.test.ts compiles it against the archives; it never runs. Each line that must
 * not compile proves that an entry point has types; without them, everything would be `any`.
 */

import { apiErrors, openApiDescription } from '@plant-store/adapters/api';
import { BatchingPlantWriter } from '@plant-store/adapters/batching';
import { HttpServer } from '@plant-store/adapters/http-server';
import { JwtVerifier } from '@plant-store/adapters/jwt';
import { openSqlite } from '@plant-store/adapters/knex';
import { createKoaApp } from '@plant-store/adapters/koa';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { StaticTokenVerifier } from '@plant-store/adapters/static-token';
import { plantRepositoryContract } from '@plant-store/contract';
import { httpContract } from '@plant-store/contract/http';
import { CreatePlant } from '@plant-store/core';
import { createContainer, type Plugin, readConfig, services } from 'plant-store';

const createPlant = new CreatePlant(new MemoryPlantRepository());
// An option may be `undefined`, also with exact optional properties.
declare const bodyLimitBytes: number | undefined;
const tokenVerifier = new StaticTokenVerifier([{ name: 'ali', token: 'secret-token' }]);
const app = createKoaApp({ createPlant, tokenVerifier, bodyLimitBytes });
app.use((ctx) => {
  ctx.body = apiErrors.noSuchPath;
  // @ts-expect-error adapters/koa: the types of Koa are available, too
  ctx.status = '200';
});

// @ts-expect-error core: an id is a bigint
createPlant.execute({ id: 1, name: 'Monstera' });
// @ts-expect-error adapters/memory: a Plant, not an object literal
new MemoryPlantRepository().add([{ id: 1n, name: 'Monstera' }]);
// @ts-expect-error adapters/batching: no such option
new BatchingPlantWriter(new MemoryPlantRepository(), { readsMax: 1 });
// @ts-expect-error adapters/static-token: a list of tokens, not a string
new StaticTokenVerifier('secret-token');
// @ts-expect-error adapters/jwt: a URL, not a string
new JwtVerifier({ issuer: 'https://issuer.example', audience: 'plants', jwksUrl: 'https://issuer.example/keys' });
// @ts-expect-error adapters/http-server: a listener, not an app
new HttpServer(app);
// @ts-expect-error adapters/api: the exported description is frozen
openApiDescription.paths['/plants'].post.responses['403'] = {};
// @ts-expect-error adapters/knex: the path is missing
openSqlite({ timeoutMs: 1 });
// @ts-expect-error contract: a harness opens a repository
plantRepositoryContract({});
// @ts-expect-error contract/http: the token is missing
httpContract[0]?.run({ baseUrl: 'https://plants.example' });

export const plugin: Plugin = (container) => {
  container.bind(services.ClientRoutes).toConstantValue((router) => {
    router.get('/me', (ctx) => {
      ctx.body = ctx.state.principal.subject;
    });
  });
  container.onActivation(services.CreatePlant, (_, useCase) => ({
    execute: async (newPlant, client) =>
      client?.subject === 'ali'
        ? useCase.execute(newPlant, client)
        : { kind: 'declined', error: { error: 40301, message: 'Only ali creates plants' } },
  }));
  // @ts-expect-error composition: a service identifier determines the bound type
  container.bind(services.CreatePlant).toConstantValue(tokenVerifier);
};
const config = readConfig({ PORT: '0' });
await plugin(await createContainer(config), config);
