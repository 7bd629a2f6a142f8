import { openApiDescription } from '@plant-store/adapters/api';
import { services } from 'plant-store';

const error = { error: 40301, message: 'Only gardeners create plants' };
const declining = { execute: async () => ({ kind: 'declined', error }) };

export default (container) => {
  // For /openapi.json.
  openApiDescription.paths['/plants'].post.responses['403'] = { description: `${error.message} (error 40301).` };
  container.onActivation(
    services.HttpCreatePlant,
    // A JWT may have the subject ali, too. A static token has no issuer.
    (_, createPlant) =>
      ({ subject, issuer }) =>
        subject === 'ali' && issuer === undefined ? createPlant : declining,
  );
};
