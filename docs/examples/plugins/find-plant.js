import { JsonPlantCodec } from '@plant-store/adapters/api';
import { reject } from '@plant-store/adapters/koa';
import { FindPlant } from '@plant-store/core';
import { services } from 'plant-store';

const error = { error: 40402, message: 'No plant has this id' };

/** @param {import('@plant-store/core').FindPlantUseCase} findPlant */
function createRoutes(findPlant) {
  const codec = new JsonPlantCodec();
  return (router) => {
    router.get('/plants/:plantId', async (ctx) => {
      const { plantId = '' } = ctx.params;
      const plant = /^-?\d{1,19}$/.test(plantId) ? await findPlant.execute(BigInt(plantId)) : undefined;
      if (plant === undefined) return reject(ctx, error);
      ctx.set('Content-Type', 'application/json');
      ctx.body = codec.encodePlant(plant);
    });
  };
}

export default (container) => {
  container
    .bind(services.ClientRoutes)
    .toResolvedValue((storage) => createRoutes(new FindPlant(storage)), [services.Storage]);
  container.onActivation(services.Description, (_, description) => describe(description));
};

/** Adds the operation to /openapi.json. */
function describe(description) {
  const { 200: plant, ...others } = description.paths['/plants'].post.responses;
  const { 401: unauthorized, 408: late, 431: tooLarge, 503: busy } = others;
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  const toError = (description) => ({ ...plant, description, content });
  description.paths['/plants/{plantId}'] = {
    get: {
      operationId: 'findPlant',
      tags: ['plants'],
      summary: 'Find a plant',
      parameters: [{ name: 'plantId', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } }],
      responses: {
        ...{ 200: { ...plant, description: 'The plant.' }, 401: unauthorized, 408: late, 431: tooLarge, 503: busy },
        400: toError('The request is not well-formed HTTP/1.1 (error 40000).'),
        404: toError(`${error.message} (error 40402).`),
        500: toError('The service failed (error 50001).'),
      },
    },
  };
  return description;
}
