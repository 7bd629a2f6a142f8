export { createKoaApp, createKoaServer } from './app.js';
