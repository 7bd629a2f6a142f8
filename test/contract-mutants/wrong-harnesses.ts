/** Harnesses with one mistake each, for JavaScript callers and for those who wire a correct adapter wrongly. */
import { MemoryPlantRepository } from '../../adapters/memory/index.js';
import type { PlantRepository } from '../../core/index.js';
import {
  type ContractCase,
  durablePlantRepositoryContract,
  durablePlantRepositoryOutageContract,
  plantRepositoryContract,
  rejectingPlantRepositoryContract,
  sharedPlantRepositoryContract,
  tokenVerifierContract,
  tokenVerifierOutageContract,
} from '../contract/index.js';
import { toPlant } from '../support/plants.js';

interface DiskHarness {
  open(): Promise<PlantRepository>;
  reopen(): Promise<PlantRepository>;
  openAnother(): Promise<PlantRepository>;
  withStorageAway(work: () => Promise<void>): Promise<void>;
}

/** Runs a contract without its type. */
interface UntypedCase {
  readonly name: string;
  run(harness: unknown): Promise<void>;
}

/** Returns harnesses with one mistake each, the cases to run with them, and the message that must name the mistake. */
export function wrongHarnesses(right: DiskHarness): readonly {
  readonly mistake: string;
  readonly cases: readonly UntypedCase[];
  readonly harness: unknown;
  readonly message: RegExp;
}[] {
  const validToken = 'Correct-horse.battery~staple+/9';
  const verifier = { verify: async (token: string) => (token === validToken ? { subject: 'gardener' } : undefined) };
  const memory = new MemoryPlantRepository();
  const sharedOpen = async (): Promise<PlantRepository> =>
    Object.assign(new MemoryPlantRepository(), {
      add: memory.add.bind(memory),
      readAll: memory.readAll.bind(memory),
    });
  let last: PlantRepository | undefined;
  const remembering = {
    ...right,
    open: async () => {
      last = await right.open();
      return last;
    },
  };
  return [
    {
      mistake: 'no open',
      cases: untyped(plantRepositoryContract),
      harness: {},
      message: /needs a function open$/,
    },
    {
      mistake: 'open returns nothing',
      cases: untyped(plantRepositoryContract),
      harness: { open: async () => undefined },
      message: /^open\(\) must resolve to a PlantRepository/,
    },
    {
      mistake: 'open opens the same storage each time',
      cases: untyped(plantRepositoryContract),
      harness: { open: sharedOpen },
      message: /^open\(\) must open new, empty storage/,
    },
    {
      mistake: 'no reopen',
      cases: untyped(named(durablePlantRepositoryContract, 'returns every plant unchanged after reopening')),
      harness: { open: right.open },
      message: /needs a function reopen$/,
    },
    {
      mistake: 'reopen returns the last repository',
      cases: untyped(named(durablePlantRepositoryContract, 'returns every added plant after a crash')),
      harness: { ...remembering, reopen: async () => last },
      message: /^reopen\(\) must open a new repository/,
    },
    {
      mistake: 'openAnother returns the last repository',
      cases: untyped(sharedPlantRepositoryContract),
      harness: { ...remembering, openAnother: async () => last },
      message: /^openAnother\(\) must open another repository/,
    },
    {
      mistake: 'no withStorageAway',
      cases: untyped(durablePlantRepositoryOutageContract),
      harness: { ...right, withStorageAway: undefined },
      message: /needs a function withStorageAway$/,
    },
    {
      mistake: 'withStorageAway does not run the work',
      cases: untyped(durablePlantRepositoryOutageContract),
      harness: { ...right, withStorageAway: async () => {} },
      message: /^withStorageAway\(work\) must call work/,
    },
    {
      mistake: 'withStorageAway leaves the storage available',
      cases: untyped(
        named(durablePlantRepositoryOutageContract, 'a plant reported as added or taken after an outage survives'),
      ),
      harness: { ...right, withStorageAway: (work: () => Promise<void>) => work() },
      message: /^withStorageAway\(\) must make the storage unavailable/,
    },
    {
      mistake: 'rejectedPlant is not a plant',
      cases: untyped(rejectingPlantRepositoryContract),
      harness: { open: right.open, rejectedPlant: { id: 1n, name: 'Monstera' } },
      message: /^rejectedPlant must be a plant created by Plant.from/,
    },
    {
      mistake: 'rejectedPlant is added',
      cases: untyped(rejectingPlantRepositoryContract),
      harness: { open: right.open, rejectedPlant: toPlant({ id: 1n, name: 'Monstera' }) },
      message: /^rejectedPlant must be a plant that the storage rejects/,
    },
    {
      mistake: 'a short validToken',
      cases: untyped(tokenVerifierContract),
      harness: { create: async () => verifier, validToken: 'short' },
      message: /^validToken must have at least 12 ASCII characters/,
    },
    {
      mistake: 'create returns nothing',
      cases: untyped(tokenVerifierContract),
      harness: { create: async () => undefined, validToken },
      message: /^create\(\) must resolve to a TokenVerifier/,
    },
    {
      mistake: 'no withIssuerUnavailable',
      cases: untyped(tokenVerifierOutageContract),
      harness: { create: async () => verifier, validToken },
      message: /needs a function withIssuerUnavailable$/,
    },
  ];
}

function named<Harness>(contract: readonly ContractCase<Harness>[], name: string): readonly ContractCase<Harness>[] {
  return contract.filter((each) => each.name === name);
}

/** Calls cases without type checks, as JavaScript code can. */
function untyped<Harness>(cases: readonly ContractCase<Harness>[]): readonly UntypedCase[] {
  return cases.map(({ name, run }) => ({ name, run: (harness) => Reflect.apply(run, undefined, [harness]) }));
}
