import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { contractCase } from '../contract/contract.js';
import {
  type Contract,
  ContractViolation,
  InvalidHarness,
  type OpenPlantRepository,
  plantRepositoryContract,
  tokenVerifierContract,
} from '../contract/index.js';
import { catchError } from '../support/catch-error.js';
import { toPlant } from '../support/plants.js';
import {
  Disk,
  type Fault,
  type Faults,
  openFaulty,
  REJECTED_PLANT,
  repositoryFaults,
  stopTimers,
} from './repositories.js';
import {
  createVerifier,
  EXPIRED_TOKEN,
  FOREIGN_TOKEN,
  type Issuer,
  JWT,
  TOKEN,
  tokenVerifierFaults,
  type VerifierFault,
} from './verifiers.js';

/** Cases that take too long to run with the faults of other cases. */
const SLOW = /70,000|megabyte|common page size|unhandled|memory/;

describe('The contract of PlantRepository:', () => {
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
  proves(repositoryFaults, (fault) => plantRepositoryContract(diskHarness(fault)), correct);
});

describe('The contract of TokenVerifier:', () => {
  const correct: VerifierFault = (verifier) => verifier;
  proves(
    tokenVerifierFaults,
    (fault, group) => tokenVerifierContract(issuerHarness(fault, group === 'JSON Web Tokens' ? JWT : TOKEN)),
    correct,
  );
});

describe('The contracts', () => {
  it('select their cases from the members of the harness, and say which groups they leave out', () => {
    const { open, reopen } = diskHarness(() => ({}));
    const contract = plantRepositoryContract({ open, reopen });
    expect(groupsOf(contract)).to.deep.equal(['every repository', 'durability']);
    expect(contract.leftOut).to.deep.equal([
      { group: 'several repositories on one storage', reason: 'the harness has no openAnother' },
      { group: 'outages', reason: 'the harness has no whileUnavailable' },
      { group: 'durability in outages', reason: 'the harness has no whileUnavailable' },
      { group: 'rejected plants', reason: 'the harness has no rejectedPlant' },
    ]);
  });

  it('end before their timeout if a call does not settle', async () => {
    const hanging = contractCase('hangs', () => new Promise(() => {}), 50);
    expect(hanging.timeoutMs).to.equal(50);
    expect(await catchError(hanging.run({})))
      .to.be.instanceOf(ContractViolation)
      .with.property('message', 'a call did not settle within 0.045 seconds');
  });

  const disk = diskHarness(() => ({}));
  let opened: OpenPlantRepository | undefined;
  const open = async () => {
    opened = await disk.open();
    return opened;
  };
  const getOpened = async () => opened;
  const nothing = async () => {};
  const runOnly = (work: () => Promise<void>) => work();
  /** Mistakes, some of which only JavaScript code can make, with the message that names them. */
  const mistakes: readonly (readonly [what: string, group: string, wrong: object, message: RegExp])[] = [
    ['no open', 'every repository', { open: undefined }, /needs a function open$/],
    ['open returns nothing', 'every repository', { open: nothing }, /^open\(\) must resolve to a PlantRepository/],
    ['one storage for all', 'every repository', { open: disk.reopen }, /^open\(\) must open new, empty storage/],
    ['reopen is not a function', 'durability', { reopen: 1 }, /needs a function reopen$/],
    ['reopen returns the previous', 'durability', { open, reopen: getOpened }, /^reopen\(\) must open a new rep/],
    [
      'openAnother returns the first',
      'several repositories on one storage',
      { open, openAnother: getOpened },
      /^openAnother\(\) must open anot/,
    ],
    ['whileUnavailable is not a function', 'outages', { whileUnavailable: 1 }, /needs a function whileUnavailable$/],
    ['work is not called', 'outages', { whileUnavailable: nothing }, /^whileUnavailable\(work\) must call/],
    [
      'whileUnavailable only calls work',
      'durability in outages',
      { whileUnavailable: runOnly },
      /^whileUnavailable\(\) must make the stor/,
    ],
    [
      'rejectedPlant is not a plant',
      'rejected plants',
      { rejectedPlant: () => ({ id: 1n }) },
      /^rejectedPlant\(\) must return a plant created/,
    ],
    [
      'rejectedPlant is added',
      'rejected plants',
      { rejectedPlant: () => toPlant({ id: 1n, name: 'Monstera' }) },
      /^rejectedPlant\(\) must return a plant that the storage rejects/,
    ],
    ['a short validToken', 'every verifier', { validToken: 'short' }, /^validToken must have at least 12 ASCII char/],
    ['create returns nothing', 'every verifier', { create: nothing }, /^create\(\) must resolve to a TokenVerifier/],
    [
      'withIssuerUnavailable is not a function',
      'outages of the issuer',
      { withIssuerUnavailable: 1 },
      /needs a function withIssuerUnavailable$/,
    ],
  ];
  for (const [what, group, wrong, message] of mistakes)
    it(`report a wrong harness: ${what}`, async () => {
      const harness = { ...disk, ...issuerHarness((verifier) => verifier), ...wrong };
      const cases = [...plantRepositoryContract(harness).cases, ...tokenVerifierContract(harness).cases];
      const errors: unknown[] = [];
      for (const { run } of cases.filter((each) => each.group === group))
        if (!errors.some((error) => error instanceof InvalidHarness)) await run().catch((error) => errors.push(error));
      expect(errors.at(-1)).to.be.instanceOf(InvalidHarness).with.property('message').that.matches(message);
    });
});

function groupsOf({ cases }: Contract): readonly string[] {
  return [...new Set(cases.map(({ group }) => group))];
}

/** Defines tests that a correct adapter passes, and that each fault fails its case and no other of its group. */
function proves<F>(
  faults: Readonly<Record<string, Faults<F>>>,
  toContract: (fault: F, group: string) => Contract,
  correct: F,
): void {
  it('has faults for each group of cases', () => {
    expect(Object.keys(faults)).to.deep.equal(groupsOf(toContract(correct, '')));
  });

  for (const [group, faultsByCase] of Object.entries(faults))
    describe(group, () => {
      const casesFor = (fault: F) => toContract(fault, group).cases.filter((each) => each.group === group);
      for (const { name, timeoutMs, run } of casesFor(correct)) it(name, run).timeout(timeoutMs);

      it('has faults for each case', () => {
        expect(Object.keys(faultsByCase)).to.have.members(casesFor(correct).map(({ name }) => name));
      });

      for (const [caseName, named] of Object.entries(faultsByCase))
        for (const [name, fault] of Object.entries(named))
          it(`fails only "${caseName}" if ${name}`, async () => {
            const failed: string[] = [];
            for (const each of casesFor(fault).filter((other) => other.name === caseName || !SLOW.test(other.name)))
              await each.run().catch(() => failed.push(each.name));
            expect(failed).to.deep.equal([caseName]);
          });
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
