export * from './management-server.js';
