export { createManagementServer, type ManagementOptions, type ReadinessCheck } from './management-server.js';
