export { loadDescription } from './description.js';
export { PlantCodec } from './plant-codec.js';
export { rejectionOf, rejections, statusOf } from './rejection.js';
//# sourceMappingURL=index.js.map