// A plugin with which authenticated clients read all plants: GET /plants?after=ID&limit=COUNT. To read them all, follow the
// header Link, until the response is an empty array. It has the exact id of the last plant, which JSON.parse would round.

import { apiErrors, JsonPlantCodec } from '@plant-store/adapters/api';
import { reject } from '@plant-store/adapters/koa';
import { ReadPlants } from '@plant-store/core';
import { services } from 'plant-store';

/** Maximum number of plants of a response. */
const MAX_PLANTS = 100;
/** Maximum number of requests at once, because on SQLite, a create waits for reads. */
const MAX_READS = 10;
const invalidQuery = { error: 40004, message: `after must be an id, and limit a number from 1 to ${MAX_PLANTS}` };

/** @param {import('@plant-store/core').ReadPlantsUseCase} readPlants */
function createRoutes(readPlants) {
  const codec = new JsonPlantCodec();
  let reads = 0;
  const limitReads = async (ctx, next) => {
    if (reads >= MAX_READS) return reject(ctx, apiErrors.overloaded);
    reads++;
    await next().finally(() => reads--);
  };
  return (router) => {
    router.get('/plants', limitReads, async (ctx) => {
      const { after, limit = `${MAX_PLANTS}` } = ctx.query;
      const isValid = after === undefined || /^-?\d{1,19}$/.test(after);
      if (!isValid || !/^[1-9]\d{0,2}$/.test(limit) || limit > MAX_PLANTS) return reject(ctx, invalidQuery);
      const position = after === undefined ? undefined : BigInt(after);
      const { value: plants = [] } = await readPlants.execute(position, Number(limit)).next();
      const last = plants.at(-1);
      if (last) ctx.set('Link', `<?after=${last.id}&limit=${limit}>; rel="next"`);
      ctx.set('Content-Type', 'application/json');
      ctx.body = `[${plants.map((plant) => codec.encodeNewPlant(plant))}]`;
    });
  };
}

/** Adds the operation to /openapi.json. */
function describe(description) {
  const {
    200: plant,
    401: unauthorized,
    408: late,
    431: tooLarge,
    503: busy,
  } = description.paths['/plants'].post.responses;
  const toJson = (schema) => ({ 'application/json': { schema } });
  const toError = (description) => {
    return { ...plant, description, content: toJson({ $ref: '#/components/schemas/Error' }) };
  };
  const Link = {
    description: 'The URL of the next page (RFC 8288), unless there are no plants.',
    schema: { type: 'string' },
  };
  description.paths['/plants'].get = {
    operationId: 'readPlants',
    tags: ['plants'],
    summary: 'Read plants, ordered by id',
    parameters: [
      {
        name: 'after',
        in: 'query',
        description: 'Only plants with greater ids.',
        schema: { type: 'integer', format: 'int64' },
      },
      { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: MAX_PLANTS, default: MAX_PLANTS } },
    ],
    responses: {
      ...{ 401: unauthorized, 408: late, 431: tooLarge, 503: busy },
      200: {
        description: 'The next plants.',
        headers: { ...plant.headers, Link },
        content: toJson({ type: 'array', items: { $ref: '#/components/schemas/NewPlant' } }),
      },
      400: toError(`The request is not well-formed HTTP/1.1 (40000), or ${invalidQuery.message} (40004).`),
      500: toError('The service failed (error 50001).'),
    },
  };
  return description;
}

export default (container) => {
  container
    .bind(services.ClientRoutes)
    .toResolvedValue((storage) => createRoutes(new ReadPlants(storage)), [services.Storage]);
  container.onActivation(services.Description, (_, description) => describe(description));
};
