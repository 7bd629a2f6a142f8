export { type AppOptions, createApp, createKoaServer } from './app.js';
export { createPlantRouter, type PlantRouterOptions } from './router.js';
