import { services } from 'plant-store';

const error = { error: 40301, message: 'Only gardeners create plants' };
/** A JWT may have the subject ali, too. A static token has no issuer. Without a client, nothing is allowed. */
const isGardener = (principal) => principal?.subject === 'ali' && principal.issuer === undefined;

export default (container) => {
  container.onActivation(services.CreatePlant, (_, createPlant) => ({
    execute: async (newPlant, principal) =>
      isGardener(principal) ? createPlant.execute(newPlant, principal) : { kind: 'declined', error },
  }));
  // For /openapi.json.
  container.onActivation(services.Description, (_, description) => {
    description.paths['/plants'].post.responses['403'] = { description: `${error.message} (error 40301).` };
    return description;
  });
};
