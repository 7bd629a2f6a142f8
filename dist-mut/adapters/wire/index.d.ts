export { loadDescription, type OpenApiDescription } from './description.js';
export { PlantCodec } from './plant-codec.js';
export { type Rejection, rejectionOf, rejections, statusOf } from './rejection.js';
//# sourceMappingURL=index.d.ts.map