import { type Contract, selectCases } from './contract.js';
import { addingCases } from './repository/adding.js';
import { concurrentCases, sharedCases } from './repository/concurrent-calls.js';
import { durableCases } from './repository/durability.js';
import { lifecycleCases } from './repository/lifecycle.js';
import { durableOutageCases, outageCases } from './repository/outages.js';
import { readingCases } from './repository/reading.js';
import { rejectingCases } from './repository/rejecting.js';
import { volumeCases } from './repository/volume.js';
import { type PlantRepositoryHarness, useStorage } from './repository-harness.js';
import {
  expiryCases,
  foreignTokenCases,
  issuerOutageCases,
  type TokenVerifierHarness,
  useVerifier,
  verifierCases,
} from './token-verifier.js';

export { type Contract, type ContractCase, ContractViolation } from './contract.js';
export type { PlantRepositoryHarness } from './repository-harness.js';
export type { TokenVerifierHarness } from './token-verifier.js';

/** Some engines sync each plant. */
const LONG_TIMEOUT_MS = 300_000;

/** Returns the contract of plant repositories, with the cases that the harness can run. */
export function plantRepositoryContract(harness: PlantRepositoryHarness): Contract {
  return selectCases(harness, useStorage, [
    {
      group: 'every repository',
      needs: [],
      cases: { ...addingCases, ...readingCases, ...concurrentCases, ...lifecycleCases },
    },
    { group: 'every repository', needs: [], cases: volumeCases, timeoutMs: LONG_TIMEOUT_MS },
    { group: 'durability', needs: ['reopen'], cases: durableCases },
    { group: 'several repositories on one storage', needs: ['openAnother'], cases: sharedCases },
    { group: 'outages', needs: ['whileUnavailable'], cases: outageCases },
    { group: 'durability in outages', needs: ['reopen', 'whileUnavailable'], cases: durableOutageCases },
    { group: 'rejected plants', needs: ['rejectedPlant'], cases: rejectingCases },
  ]);
}

/** Returns the contract of token verifiers, with the cases that the harness can run. */
export function tokenVerifierContract(harness: TokenVerifierHarness): Contract {
  return selectCases(harness, useVerifier, [
    { group: 'every verifier', needs: [], cases: verifierCases },
    { group: 'expiry', needs: ['expiredToken'], cases: expiryCases },
    { group: 'other issuers', needs: ['foreignToken'], cases: foreignTokenCases },
    { group: 'outages of the issuer', needs: ['withIssuerUnavailable'], cases: issuerOutageCases },
  ]);
}
