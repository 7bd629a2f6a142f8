import { type Contract, selectCases } from './contract.js';
import { durableCases } from './durable-plant-repository.js';
import { repositoryCases } from './plant-repository.js';
import { durableOutageCases, outageCases } from './plant-repository-outage.js';
import { rejectingCases } from './rejecting-plant-repository.js';
import type { PlantRepositoryHarness } from './repository-checks.js';
import { sharedCases } from './shared-plant-repository.js';
import {
  expiryCases,
  foreignTokenCases,
  issuerOutageCases,
  jwtCases,
  type TokenVerifierHarness,
  verifierCases,
} from './token-verifier.js';

export { type Contract, type ContractCase, ContractViolation, InvalidHarness, type LeftOutGroup } from './contract.js';
export type { OpenPlantRepository, PlantRepositoryHarness } from './repository-checks.js';
export type { TokenVerifierHarness } from './token-verifier.js';

/** Returns the contract of plant repositories, with the cases that the harness can run. */
export function plantRepositoryContract(harness: PlantRepositoryHarness): Contract {
  return selectCases(harness, (group) => [
    group('every repository', [], repositoryCases),
    group('durability', ['reopen'], durableCases),
    group('several repositories on one storage', ['openAnother'], sharedCases),
    group('outages', ['whileUnavailable'], outageCases),
    group('durability in outages', ['reopen', 'whileUnavailable'], durableOutageCases),
    group('rejected plants', ['rejectedPlant'], rejectingCases),
  ]);
}

/** Returns the contract of token verifiers, with the cases that the harness can run. */
export function tokenVerifierContract(harness: TokenVerifierHarness): Contract {
  return selectCases(harness, (group) => [
    group('every verifier', [], verifierCases),
    group('JSON Web Tokens', [], jwtCases),
    group('expiry', ['expiredToken'], expiryCases),
    group('other issuers', ['foreignToken'], foreignTokenCases),
    group('outages of the issuer', ['withIssuerUnavailable'], issuerOutageCases),
  ]);
}
