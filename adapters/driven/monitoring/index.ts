export * from './monitored-plant-repository.js';
