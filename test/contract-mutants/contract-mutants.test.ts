import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { contractCase, type HarnessCase } from '../contract/contract.js';
import { durableCases } from '../contract/durable-plant-repository.js';
import {
  ContractViolation,
  InvalidHarness,
  plantRepositoryContract,
  tokenVerifierContract,
} from '../contract/index.js';
import { repositoryCases } from '../contract/plant-repository.js';
import { durableOutageCases, outageCases } from '../contract/plant-repository-outage.js';
import { rejectingCases } from '../contract/rejecting-plant-repository.js';
import { sharedCases } from '../contract/shared-plant-repository.js';
import {
  expiryCases,
  foreignTokenCases,
  issuerOutageCases,
  jwtCases,
  verifierCases,
} from '../contract/token-verifier.js';
import { catchError } from '../support/catch-error.js';
import {
  Disk,
  durableFaults,
  durableOutageFaults,
  type Fault,
  type Faults,
  faults,
  openFaulty,
  outageFaults,
  REJECTED_PLANT,
  rejectingFaults,
  sharedFaults,
  stopTimers,
} from './repositories.js';
import {
  createVerifier,
  EXPIRED_TOKEN,
  expiryFaults,
  FOREIGN_TOKEN,
  foreignTokenFaults,
  type Issuer,
  issuerFaults,
  JWT,
  jwtFaults,
  TOKEN,
  type VerifierFault,
  verifierFaults,
} from './verifiers.js';
import { wrongHarnesses } from './wrong-harnesses.js';

/** Cases that take too long to run with the faults of other cases. */
const SLOW = /70,000|megabyte|common page size|unhandled|memory/;

const right = { ...diskHarness(() => ({})), ...issuerHarness((verifier) => verifier) };

describe('The contract of PlantRepository', () => {
  const { now } = Date;
  let listeners: NodeJS.UnhandledRejectionListener[];
  before(() => {
    // Cases wait for timers to end; the time passes 50 times as fast.
    const start = now();
    Date.now = () => start + 50 * (now() - start);
    // Some faults leave a rejection unhandled, which would fail the run.
    listeners = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
  });
  after(() => {
    Date.now = now;
    for (const listener of listeners) process.on('unhandledRejection', listener);
    stopTimers();
  });

  const correct: Fault = () => ({});
  for (const [subject, contract, faultsByCase] of [
    ['of any kind', repositoryCases, faults],
    ['that is durable', durableCases, durableFaults],
    ['that can become unavailable', outageCases, outageFaults],
    ['that is durable and can become unavailable', durableOutageCases, durableOutageFaults],
    ['that is shared', sharedCases, sharedFaults],
    ['that rejects plants', rejectingCases, rejectingFaults],
  ] as const)
    describe(subject, () => proves(contract, faultsByCase, diskHarness, correct));
});

describe('The contract of TokenVerifier', () => {
  const correct: VerifierFault = (verifier) => verifier;
  describe('of any kind', () => proves(verifierCases, verifierFaults, issuerHarness, correct));
  describe('of JSON Web Tokens', () => proves(jwtCases, jwtFaults, (fault) => issuerHarness(fault, JWT), correct));
  describe('with tokens that expire', () => proves(expiryCases, expiryFaults, issuerHarness, correct));
  describe('of one issuer', () => proves(foreignTokenCases, foreignTokenFaults, issuerHarness, correct));
  describe('with an issuer', () => proves(issuerOutageCases, issuerFaults, issuerHarness, correct));
});

describe('The contracts', () => {
  it('select their cases from the members of the harness, and say which groups they leave out', () => {
    const { open, reopen } = diskHarness(() => ({}));
    const contract = plantRepositoryContract({ open, reopen });
    const names = contract.cases.map(({ name }) => name);
    expect(names).to.deep.equal([...repositoryCases, ...durableCases].map(({ name }) => name));
    expect(contract.leftOut).to.deep.equal([
      { group: 'several repositories on one storage', reason: 'the harness has no openAnother' },
      { group: 'outages', reason: 'the harness has no whileUnavailable' },
      { group: 'durability in outages', reason: 'the harness has no whileUnavailable' },
      { group: 'rejected plants', reason: 'the harness has no rejectedPlant' },
    ]);
    expect(plantRepositoryContract(right).leftOut).to.deep.equal([]);
    expect(tokenVerifierContract(right).leftOut).to.deep.equal([]);
  });

  it('end before their timeout if a call does not settle', async () => {
    const hanging = contractCase('hangs', () => new Promise(() => {}), 50);
    expect(hanging.timeoutMs).to.equal(50);
    expect(await catchError(hanging.run({})))
      .to.be.instanceOf(ContractViolation)
      .with.property('message', 'a call did not settle within 0.045 seconds');
  });

  for (const [mistake, [[first], wrong, message]] of Object.entries(wrongHarnesses(right)))
    it(`report a wrong harness: ${mistake}`, async () => {
      const run = async () => first && Reflect.apply(first.run, undefined, [{ ...right, ...wrong }]);
      expect(await catchError(run()))
        .to.be.instanceOf(InvalidHarness)
        .with.property('message')
        .that.matches(message);
    });
});

describe('The contracts under node:test', () => {
  const run = (adapter: string) => {
    const file = fileURLToPath(new URL('../support/node-test-contract.js', import.meta.url));
    // With this variable, node:test would report to a parent run.
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
    return spawnSync(process.execPath, ['--test', '--test-reporter=tap', file], {
      env: { ...environment, ADAPTER: adapter },
      encoding: 'utf8',
    });
  };

  it('pass for a correct adapter', () => {
    const { status, stdout } = run('correct');
    expect(stdout).to.match(new RegExp(`^# pass ${repositoryCases.length}$`, 'm'));
    expect(status, stdout).to.equal(0);
  });

  it('fail for a broken adapter in the case that detects its fault', () => {
    const { status, stdout } = run('broken');
    expect(stdout).to.match(/^ *not ok \d+ - close is idempotent, and each later call throws StorageUnavailable$/m);
    expect(status, stdout).to.equal(1);
  });
});

/** Defines tests that a correct adapter passes, and that each fault fails its case and no other. */
function proves<Harness, F>(
  contract: readonly HarnessCase<Harness>[],
  faultsByCase: Faults<F>,
  toHarness: (fault: F) => Harness,
  correct: F,
): void {
  for (const { name, timeoutMs, run } of contract) it(name, () => run(toHarness(correct))).timeout(timeoutMs);

  it('has faults for each case', () => {
    expect(Object.keys(faultsByCase)).to.have.members(contract.map(({ name }) => name));
  });

  for (const [caseName, named] of Object.entries(faultsByCase))
    for (const [name, fault] of Object.entries(named))
      it(`fails only "${caseName}" if ${name}`, async () => {
        const failed: string[] = [];
        for (const each of contract.filter((other) => other.name === caseName || !SLOW.test(other.name)))
          await each.run(toHarness(fault)).catch(() => failed.push(each.name));
        expect(failed).to.deep.equal([caseName]);
      });
}

function diskHarness(fault: Fault) {
  let disk = new Disk();
  const open = async () => openFaulty(disk, fault);
  return {
    open: () => {
      disk = new Disk();
      return open();
    },
    reopen: open,
    openAnother: open,
    whileUnavailable: async (work: () => Promise<void>) => {
      disk.isUnavailable = true;
      await work().finally(() => {
        disk.isUnavailable = false;
      });
    },
    rejectedPlant: () => REJECTED_PLANT,
  };
}

function issuerHarness(fault: VerifierFault, validToken = TOKEN) {
  const issuer: Issuer = { validToken, isUnavailable: false };
  return {
    create: async () => fault(createVerifier(issuer), issuer),
    validToken,
    expiredToken: async () => EXPIRED_TOKEN,
    foreignToken: async () => FOREIGN_TOKEN,
    withIssuerUnavailable: async (work: () => Promise<void>) => {
      issuer.isUnavailable = true;
      await work().finally(() => {
        issuer.isUnavailable = false;
      });
    },
  };
}
