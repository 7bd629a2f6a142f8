import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/memory/index.js';
import type { PlantRepository, TokenVerifier } from '../../core/index.js';
import { contractCase } from '../contract/contract.js';
import {
  type ContractCase,
  ContractViolation,
  durablePlantRepositoryContract,
  durablePlantRepositoryOutageContract,
  InvalidHarness,
  plantRepositoryContract,
  rejectingPlantRepositoryContract,
  sharedPlantRepositoryContract,
  tokenVerifierContract,
  tokenVerifierOutageContract,
} from '../contract/index.js';
import { catchError } from '../support/catch-error.js';
import { runContract } from '../support/run-contract.js';
import {
  brokenOnDisk,
  brokenWithIssuer,
  type Disk,
  DiskRepository,
  type Issuer,
  IssuerVerifier,
} from './broken-by-cases.js';
import { brokenRepositories, brokenVerifiers } from './broken-by-documentation.js';
import * as byTechnology from './broken-repositories-by-technology.js';
import * as verifiersByTechnology from './broken-verifiers-by-technology.js';
import { caughtBy } from './caught-by.js';
import { wrongHarnesses } from './wrong-harnesses.js';

/** A realistic token, longer than the 72 bytes that bcrypt compares. */
const TOKEN = 'Xq7-vR2m.Zk9~Lw4+Hd8/Pb3Tn6Gc1Yf5Js0Wd7Ka4Mv2Qe9Bx8Uh3Rp6Io1Lz5Nt0Cg7Sy4Ej2Fk9Vw8Ab==';

const diskFaults = [...brokenOnDisk, ...byTechnology.brokenDurable, ...byTechnology.brokenInOutage];
const issuerFaults = [...brokenWithIssuer, ...verifiersByTechnology.brokenWithIssuer];

describe('The contract of PlantRepository', () => {
  describe('accepts a correct adapter:', () => {
    runContract(plantRepositoryContract, { open: async () => new MemoryPlantRepository() });
  });

  describe('accepts a correct adapter with a disk:', () => {
    const harness = diskHarness((disk) => new DiskRepository(disk));
    runContract(durablePlantRepositoryContract, harness);
    runContract(durablePlantRepositoryOutageContract, harness);
    runContract(sharedPlantRepositoryContract, harness);
  });

  describe('accepts a correct adapter that rejects plants:', () => {
    runContract(rejectingPlantRepositoryContract, rejectingHarness(byTechnology.createRejecting));
  });

  describe('catches an adapter with the fault:', () => {
    withoutErrorHandlers();
    withFastClock();
    after(byTechnology.stopTimers);
    for (const { fault, create } of brokenRepositories)
      catches(fault, caseFor(fault), plantRepositoryContract, { open: async () => create() });
    for (const { fault, caughtBy: name, create } of byTechnology.brokenRepositories)
      catches(fault, name, plantRepositoryContract, { open: async () => create() });
  });

  describe('catches an adapter with a disk and the fault:', () => {
    withoutErrorHandlers();
    withFastClock();
    after(byTechnology.stopTimers);
    for (const { fault, caughtBy: name, open } of diskFaults)
      catches(
        fault,
        name,
        [...durablePlantRepositoryContract, ...durablePlantRepositoryOutageContract],
        diskHarness(open),
      );
  });

  describe('catches an adapter with a shared disk and the fault:', () => {
    for (const { fault, caughtBy: name, open } of byTechnology.brokenOnSharedDisk)
      catches(fault, name, sharedPlantRepositoryContract, diskHarness(open));
  });

  describe('catches an adapter that rejects plants and has the fault:', () => {
    for (const { fault, caughtBy: name, create } of byTechnology.brokenRejecting)
      catches(fault, name, rejectingPlantRepositoryContract, rejectingHarness(create));
  });
});

describe('The contract of TokenVerifier', () => {
  describe('accepts a correct adapter:', () => {
    const harness = issuerHarness((issuer) => new IssuerVerifier(issuer));
    runContract(tokenVerifierContract, harness);
    runContract(tokenVerifierOutageContract, harness);
  });

  describe('catches an adapter with the fault:', () => {
    const harness = (create: (validToken: string) => TokenVerifier) => ({
      create: async () => create(TOKEN),
      validToken: TOKEN,
    });
    for (const { fault, create } of brokenVerifiers)
      catches(fault, caseFor(fault), tokenVerifierContract, harness(create));
    for (const { fault, caughtBy: name, create } of verifiersByTechnology.brokenVerifiers)
      catches(fault, name, tokenVerifierContract, harness(create));
  });

  describe('catches an adapter with an issuer and the fault:', () => {
    for (const { fault, caughtBy: name, create } of issuerFaults)
      catches(fault, name, tokenVerifierOutageContract, issuerHarness(create));
  });
});

describe('The contract cases', () => {
  const all = [
    ...durablePlantRepositoryContract,
    ...durablePlantRepositoryOutageContract,
    ...sharedPlantRepositoryContract,
    ...rejectingPlantRepositoryContract,
    ...tokenVerifierContract,
    ...tokenVerifierOutageContract,
  ];

  it('have unique names', () => {
    expect(new Set(all.map(({ name }) => name))).to.have.lengthOf(all.length);
  });

  it('cover every fault, and each catches at least one', () => {
    const faults = [...brokenRepositories, ...brokenVerifiers].map(({ fault }) => fault);
    expect(Object.values(caughtBy).flat()).to.have.members(faults);
    const proven = [
      ...Object.keys(caughtBy),
      ...[...diskFaults, ...issuerFaults].map((each) => each.caughtBy),
      ...[...byTechnology.brokenRepositories, ...byTechnology.brokenOnSharedDisk].map((each) => each.caughtBy),
      ...[...byTechnology.brokenRejecting, ...verifiersByTechnology.brokenVerifiers].map((each) => each.caughtBy),
    ];
    expect(all.map(({ name }) => name)).to.have.members([...new Set(proven)]);
  });

  it('end before their timeout if a call does not settle', async () => {
    const hanging = contractCase('hangs', () => new Promise(() => {}), 50);
    expect(hanging.timeoutMs).to.equal(50);
    expect(await catchError(hanging.run({})))
      .to.be.instanceOf(ContractViolation)
      .with.property('message', 'a call did not settle within 0.045 seconds');
  });

  for (const { mistake, run, harness, message } of wrongHarnesses(diskHarness((disk) => new DiskRepository(disk)))) {
    it(`report a wrong harness: ${mistake}`, async () => {
      expect(await catchError(run(harness)))
        .to.be.instanceOf(InvalidHarness)
        .with.property('message')
        .that.matches(message);
    });
  }
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
    expect(stdout).to.match(new RegExp(`^# pass ${plantRepositoryContract.length}$`, 'm'));
    expect(status, stdout).to.equal(0);
  });

  it('fail for a broken adapter in the case that detects its fault', () => {
    const { status, stdout } = run('broken');
    expect(stdout).to.match(/^ *not ok \d+ - close is idempotent$/m);
    expect(status, stdout).to.equal(1);
  });
});

/** Defines a test that asserts that the named case fails for a broken adapter. */
function catches<Harness>(
  fault: string,
  caseName: string,
  contract: readonly ContractCase<Harness>[],
  harness: Harness,
): void {
  it(`${fault}: "${caseName}"`, async () => {
    const found = contract.find(({ name }) => name === caseName);
    if (found === undefined) throw new Error(`the contract has no case "${caseName}"`);
    const passes = await found.run(harness).then(
      () => true,
      () => false,
    );
    expect(passes, 'whether the broken adapter passes').to.equal(false);
  });
}

function caseFor(fault: string): string {
  return (
    Object.keys(caughtBy).find((name) => caughtBy[name]?.includes(fault)) ?? 'no case: add the fault to caught-by.ts'
  );
}

/** Removes the handlers that fail the run for an unhandled rejection, which some broken adapters leave. */
function withoutErrorHandlers(): void {
  let listeners: NodeJS.UnhandledRejectionListener[];
  before(() => {
    listeners = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
  });
  after(() => {
    for (const listener of listeners) process.on('unhandledRejection', listener);
  });
}

/** Makes the clock run 50 times as fast, for cases that wait for an adapter that never recovers. */
function withFastClock(): void {
  const { now } = Date;
  before(() => {
    const start = now();
    Date.now = () => start + 50 * (now() - start);
  });
  after(() => {
    Date.now = now;
  });
}

function diskHarness(open: (disk: Disk) => PlantRepository) {
  let disk: Disk;
  return {
    open: async () => {
      disk = { plants: new Map(), isUnavailable: false };
      return open(disk);
    },
    reopen: async () => open(disk),
    openAnother: async () => open(disk),
    withStorageAway: async (work: () => Promise<void>) => {
      disk.isUnavailable = true;
      await work().finally(() => {
        disk.isUnavailable = false;
      });
    },
  };
}

function rejectingHarness(create: () => PlantRepository) {
  return { open: async () => create(), rejectedPlant: byTechnology.REJECTED_PLANT };
}

function issuerHarness(create: (issuer: Issuer) => TokenVerifier) {
  const issuer: Issuer = { validToken: TOKEN, isUnavailable: false };
  return {
    create: async () => create(issuer),
    validToken: TOKEN,
    withIssuerUnavailable: async (work: () => Promise<void>) => {
      issuer.isUnavailable = true;
      await work().finally(() => {
        issuer.isUnavailable = false;
      });
    },
  };
}
