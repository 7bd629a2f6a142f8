export * from './create-plant.js';
export * from './errors.js';
export * from './plant.js';
export * from './ports/driven/plant-repository.js';
export * from './ports/driven/token-verifier.js';
export * from './ports/driving/create-plant-use-case.js';
export * from './ports/driving/read-plants-use-case.js';
export * from './read-plants.js';
