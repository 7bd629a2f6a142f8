// A plugin with which authenticated clients read plants: GET /plants/{plantId}, and GET /plants?after=ID&limit=COUNT.
// To read them all, send the id of the last plant as `after`, until the response is an empty array.

import { JsonPlantCodec } from '@plant-store/adapters/api';
import { reject } from '@plant-store/adapters/koa';
import { FindPlant, ReadPlants } from '@plant-store/core';
import { services } from 'plant-store';

const MAX_PLANTS = 1000;
const invalidQuery = { error: 40004, message: `after must be an id, and limit a number from 1 to ${MAX_PLANTS}` };
const noSuchPlant = { error: 40402, message: 'No plant has this id' };

/** Returns the id that a string contains, with all its digits, or `undefined`. */
const parseId = (text) => (/^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined);

/** Returns a function that adds the routes. They run after the limit and the check of the credential. */
function createRoutes(storage) {
  const [findPlant, readPlants, codec] = [new FindPlant(storage), new ReadPlants(storage), new JsonPlantCodec()];
  const respond = (ctx, json) => {
    ctx.set('Content-Type', 'application/json');
    ctx.body = json;
  };
  return (router) => {
    router.get('/plants/:plantId', async (ctx) => {
      const id = parseId(ctx.params.plantId);
      const plant = id === undefined ? undefined : await findPlant.execute(id);
      if (plant === undefined) return reject(ctx, noSuchPlant);
      respond(ctx, codec.encodePlant(plant));
    });
    router.get('/plants', async (ctx) => {
      const { after, limit = '100' } = ctx.query;
      const position = parseId(after);
      const isValid = after === undefined || position !== undefined;
      if (!isValid || !/^[1-9]\d{0,3}$/.test(limit) || limit > MAX_PLANTS) return reject(ctx, invalidQuery);
      const { value: plants = [] } = await readPlants.execute(position, Number(limit)).next();
      respond(ctx, `[${plants.map((plant) => codec.encodeNewPlant(plant))}]`);
    });
  };
}

/** Adds the operations to the description. Most responses are those of a create. */
function describe(description) {
  const { post } = description.paths['/plants'];
  const {
    200: success,
    400: invalid,
    401: unauthorized,
    408: late,
    431: large,
    500: failed,
    503: busy,
  } = post.responses;
  const failures = { 400: invalid, 401: unauthorized, 408: late, 431: large, 500: failed, 503: busy };
  const id = { type: 'integer', format: 'int64' };
  const limit = { type: 'integer', minimum: 1, maximum: MAX_PLANTS, default: 100 };
  const plants = { type: 'array', items: { $ref: '#/components/schemas/NewPlant' } };
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
      200: { ...success, description: 'The next plants.', content: { 'application/json': { schema: plants } } },
      400: { ...invalid, description: `${invalidQuery.message} (error ${invalidQuery.error}).` },
    },
  };
  description.paths['/plants/{plantId}'] = {
    get: {
      operationId: 'findPlant',
      tags: ['plants'],
      summary: 'Find a plant',
      parameters: [{ name: 'plantId', in: 'path', required: true, schema: id }],
      responses: {
        ...failures,
        200: { ...success, description: 'The plant.' },
        404: { ...invalid, description: `${noSuchPlant.message} (error ${noSuchPlant.error}).` },
      },
    },
  };
  return description;
}

export default (container) => {
  container.bind(services.ClientRoutes).toResolvedValue(createRoutes, [services.Storage]);
  container.onActivation(services.Description, (_, description) => describe(description));
};
