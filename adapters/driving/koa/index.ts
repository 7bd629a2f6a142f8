export { type AppOptions, createApp, createKoaServer } from './app.js';
