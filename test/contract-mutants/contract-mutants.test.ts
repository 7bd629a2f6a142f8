import {
  type Contract,
  ContractViolation,
  plantRepositoryContract,
  tokenVerifierContract,
} from '@plant-store/contract';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { selectCases } from '#contract/contract.js';
import { catchError } from '../support/catch-error.js';
import { runContract } from '../support/run-contract.js';
import * as repositories from './repositories.js';
import { repositoryFaults } from './repository-faults.js';
import * as verifiers from './verifiers.js';

describe('The contract of PlantRepository', () => {
  const toContract = (fault?: repositories.Fault) => plantRepositoryContract(repositories.createHarness(fault));

  describe('accepts a correct repository:', () => runContract(toContract()));

  describe('finds a repository that breaks a case:', () => {
    for (const [name, fault] of Object.entries(repositoryFaults))
      it(name, () => expectViolation(toContract(fault), name));
  });
});

describe('The contract of TokenVerifier', () => {
  const toContract = (fault?: verifiers.VerifierFault) => tokenVerifierContract(verifiers.createHarness(fault));

  describe('accepts a correct verifier:', () => runContract(toContract()));

  describe('finds a verifier that breaks a case:', () => {
    for (const [name, fault] of Object.entries(verifiers.verifierFaults))
      it(name, () => expectViolation(toContract(fault), name));
  });

  it('finds a subject that is made of the token', async () => {
    for (const fault of verifiers.disclosingSubjects)
      await expectViolation(toContract(fault), 'returns a principal for a valid token, which reveals nothing of it');
  });
});

describe('The contracts', () => {
  it('select their cases from the members of the harness, and say which groups they leave out', () => {
    const { open, reopen } = repositories.createHarness();
    const contract = plantRepositoryContract({ open, reopen });
    expect([...new Set(contract.cases.map(({ group }) => group))]).to.deep.equal(['every repository', 'durability']);
    expect(contract.leftOut).to.deep.equal([
      { group: 'several repositories on one storage', reason: 'the harness has no openAnother' },
      { group: 'outages', reason: 'the harness has no whileUnavailable' },
      { group: 'durability in outages', reason: 'the harness has no whileUnavailable' },
      { group: 'rejected plants', reason: 'the harness has no rejectedPlant' },
    ]);
  });

  it('end before their timeout if a call does not settle', async () => {
    const { cases } = selectCases({}, (_, check: (context: object) => Promise<unknown>) => check({}).then(() => {}), [
      { group: 'hanging', needs: [], cases: { hangs: () => new Promise(() => {}) }, timeoutMs: 50 },
    ]);
    const error = await catchError(Promise.all(cases.map(({ run }) => run())));
    expect(error).to.be.instanceOf(ContractViolation);
    expect(error).to.have.property('message', 'a call did not settle within 0.045 seconds');
  });
});

/** Asserts that a case of the contract fails. The test runner must not see what a mutant leaves unhandled. */
async function expectViolation({ cases }: Contract, name: string): Promise<void> {
  const found = cases.find((each) => each.name === name);
  const listeners = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  const error = await catchError(found?.run() ?? Promise.resolve());
  for (const listener of listeners) process.on('unhandledRejection', listener);
  expect(error).to.be.instanceOf(ContractViolation);
}
