export { type ContractCase, ContractViolation, InvalidHarness } from './contract.js';
export { type DurablePlantRepositoryHarness, durablePlantRepositoryContract } from './durable-plant-repository.js';
export { plantRepositoryContract } from './plant-repository.js';
export {
  type DurablePlantRepositoryOutageHarness,
  durablePlantRepositoryOutageContract,
  type PlantRepositoryOutageHarness,
  plantRepositoryOutageContract,
} from './plant-repository-outage.js';
export {
  type RejectingPlantRepositoryHarness,
  rejectingPlantRepositoryContract,
} from './rejecting-plant-repository.js';
export type { PlantRepositoryHarness } from './repository-checks.js';
export { type SharedPlantRepositoryHarness, sharedPlantRepositoryContract } from './shared-plant-repository.js';
export {
  type TokenVerifierHarness,
  type TokenVerifierOutageHarness,
  tokenVerifierContract,
  tokenVerifierOutageContract,
} from './token-verifier.js';
