export { type ManagementOptions, ManagementServer } from './management-server.js';
