// A plugin with which authenticated clients read plants: GET /plants/{plantId}, and GET /plants?after=ID&limit=COUNT.
// To read them all, follow the header Link, until the response is an empty array. It has the exact id of the last plant,
// which JSON.parse would round.

import { apiErrors, JsonPlantCodec } from '@plant-store/adapters/api';
import { reject } from '@plant-store/adapters/koa';
import { FindPlant, ReadPlants } from '@plant-store/core';
import { services } from 'plant-store';

/** Maximum number of plants of a response. */
const MAX_PLANTS = 100;
/** Maximum number of requests at once, because on SQLite, a create waits for reads. */
const MAX_READS = 10;
const invalidQuery = { error: 40004, message: `after must be an id, and limit a number from 1 to ${MAX_PLANTS}` };
const noSuchPlant = { error: 40402, message: 'No plant has this id' };

/** Returns the id that a string contains, with all its digits, or `undefined`. */
const parseId = (text) => (/^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined);

/**
 * Returns a function that adds the routes. They run after the limit and the check of the credential.
 * @param {import('@plant-store/core').FindPlantUseCase} findPlant
 * @param {import('@plant-store/core').ReadPlantsUseCase} readPlants
 */
function createRoutes(findPlant, readPlants) {
  const codec = new JsonPlantCodec();
  const respond = (ctx, json) => {
    ctx.set('Content-Type', 'application/json');
    ctx.body = json;
  };
  let reads = 0;
  const limitReads = async (ctx, next) => {
    if (reads >= MAX_READS) return reject(ctx, apiErrors.overloaded);
    reads++;
    await next().finally(() => reads--);
  };
  return (router) => {
    router.use(limitReads);
    router.get('/plants/:plantId', async (ctx) => {
      const id = parseId(ctx.params.plantId);
      const plant = id === undefined ? undefined : await findPlant.execute(id);
      if (plant === undefined) return reject(ctx, noSuchPlant);
      respond(ctx, codec.encodePlant(plant));
    });
    router.get('/plants', async (ctx) => {
      const { after, limit = `${MAX_PLANTS}` } = ctx.query;
      const position = parseId(after);
      const isValid = after === undefined || position !== undefined;
      if (!isValid || !/^[1-9]\d{0,2}$/.test(limit) || limit > MAX_PLANTS) return reject(ctx, invalidQuery);
      const { value: plants = [] } = await readPlants.execute(position, Number(limit)).next();
      const last = plants.at(-1);
      if (last) ctx.set('Link', `<?after=${last.id}&limit=${limit}>; rel="next"`);
      respond(ctx, `[${plants.map((plant) => codec.encodeNewPlant(plant))}]`);
    });
  };
}

/** Adds the operations to the description. */
function describe(description) {
  const {
    200: success,
    400: invalid,
    401: unauthorized,
    408: late,
    431: large,
    503: busy,
  } = description.paths['/plants'].post.responses;
  const toResponse = (example, description, schema) => {
    return { ...invalid, description, content: { 'application/json': { schema, example } } };
  };
  const toRejection = ({ error, message }, text = `${message} (error ${error}).`) =>
    toResponse({ error, message }, text, { $ref: '#/components/schemas/Error' });
  const failures = {
    400: toRejection(apiErrors.malformedHttp),
    ...{ 401: unauthorized, 408: late, 431: large, 503: { ...busy, description: 'Temporary failure. Retry later.' } },
    500: toRejection(apiErrors.internalError),
  };
  const id = { type: 'integer', format: 'int64' };
  const limit = { type: 'integer', minimum: 1, maximum: MAX_PLANTS, default: MAX_PLANTS };
  const plants = { type: 'array', items: { $ref: '#/components/schemas/NewPlant' } };
  const page = toResponse([{ id: 1, name: 'Monstera' }], 'The next plants.', plants);
  const Link = {
    description: 'The URL of the next page (RFC 8288), unless there are no plants.',
    schema: { type: 'string' },
  };
  description.paths['/plants'].get = {
    operationId: 'readPlants',
    tags: ['plants'],
    summary: 'Read plants, ordered by id',
    parameters: [
      { name: 'after', in: 'query', description: 'Only plants with greater ids.', schema: id },
      { name: 'limit', in: 'query', description: 'Maximum number of plants.', schema: limit },
    ],
    responses: {
      ...failures,
      200: { ...page, headers: { ...page.headers, Link } },
      400: toRejection(
        invalidQuery,
        `The request is not well-formed HTTP/1.1 (40000), or ${invalidQuery.message} (40004).`,
      ),
    },
  };
  description.paths['/plants/{plantId}'] = {
    get: {
      operationId: 'findPlant',
      tags: ['plants'],
      summary: 'Find a plant',
      parameters: [{ name: 'plantId', in: 'path', required: true, schema: id }],
      responses: { ...failures, 200: { ...success, description: 'The plant.' }, 404: toRejection(noSuchPlant) },
    },
  };
  return description;
}

export default (container) => {
  container
    .bind(services.ClientRoutes)
    .toResolvedValue((storage) => createRoutes(new FindPlant(storage), new ReadPlants(storage)), [services.Storage]);
  container.onActivation(services.Description, (_, description) => describe(description));
};
