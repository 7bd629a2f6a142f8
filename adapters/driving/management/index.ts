export {
  createManagementServer,
  createReadiness,
  type ManagementOptions,
  type Readiness,
  type ReadinessCheck,
} from './management-server.js';
