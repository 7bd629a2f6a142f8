// A plugin with an SQL query of its own: GET /tags responds with up to 1,000 tags, sorted.

import { toStorageUnavailable } from '@plant-store/adapters/knex';
import { services } from 'plant-store';

/** Maximum number of tags of a response. */
const MAX_TAGS = 1000;

const createRoutes = ({ knex }) => {
  return (router) => {
    router.get('/tags', async (ctx) => {
      const query = knex('plants').distinct('tag').whereNotNull('tag').orderBy('tag').limit(MAX_TAGS).pluck('tag');
      ctx.body = await query.catch((error) => Promise.reject(toStorageUnavailable(error)));
    });
  };
};

export default (container) => {
  container.bind(services.ClientRoutes).toResolvedValue(createRoutes, [services.Storage]);
};
