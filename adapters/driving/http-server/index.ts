export { HttpServer, type HttpServerOptions } from './http-server.js';
