export * from './measured-plant-writer.js';
