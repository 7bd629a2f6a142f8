/** Harnesses with one mistake each, some of which only JavaScript code can make. */
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

/** Runs a contract case without type checks, as JavaScript code can. */
type UntypedRun = (harness: unknown) => Promise<void>;

/** Returns harnesses with one mistake each, the case to run with them, and the message that must name the mistake. */
export function wrongHarnesses(right: DiskHarness): readonly {
  readonly mistake: string;
  readonly run: UntypedRun;
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
  let previous: PlantRepository | undefined;
  const remembering = {
    ...right,
    open: async () => {
      previous = await right.open();
      return previous;
    },
  };
  return [
    {
      mistake: 'no open',
      run: untypedRun(plantRepositoryContract),
      harness: {},
      message: /needs a function open$/,
    },
    {
      mistake: 'open returns nothing',
      run: untypedRun(plantRepositoryContract),
      harness: { open: async () => undefined },
      message: /^open\(\) must resolve to a PlantRepository/,
    },
    {
      mistake: 'open opens the same storage each time',
      run: untypedRun(plantRepositoryContract),
      harness: { open: sharedOpen },
      message: /^open\(\) must open new, empty storage/,
    },
    {
      mistake: 'no reopen',
      run: untypedRun(durablePlantRepositoryContract, 'returns every plant unchanged after reopening'),
      harness: { open: right.open },
      message: /needs a function reopen$/,
    },
    {
      mistake: 'reopen returns the previous repository',
      run: untypedRun(durablePlantRepositoryContract, 'returns every added plant after a crash'),
      harness: { ...remembering, reopen: async () => previous },
      message: /^reopen\(\) must open a new repository/,
    },
    {
      mistake: 'openAnother returns the previous repository',
      run: untypedRun(sharedPlantRepositoryContract),
      harness: { ...remembering, openAnother: async () => previous },
      message: /^openAnother\(\) must open another repository/,
    },
    {
      mistake: 'no withStorageAway',
      run: untypedRun(durablePlantRepositoryOutageContract),
      harness: { ...right, withStorageAway: undefined },
      message: /needs a function withStorageAway$/,
    },
    {
      mistake: 'withStorageAway does not run the work',
      run: untypedRun(durablePlantRepositoryOutageContract),
      harness: { ...right, withStorageAway: async () => {} },
      message: /^withStorageAway\(work\) must call work/,
    },
    {
      mistake: 'withStorageAway leaves the storage available',
      run: untypedRun(
        durablePlantRepositoryOutageContract,
        'a plant reported as added or taken after an outage survives',
      ),
      harness: { ...right, withStorageAway: (work: () => Promise<void>) => work() },
      message: /^withStorageAway\(\) must make the storage unavailable/,
    },
    {
      mistake: 'rejectedPlant is not a plant',
      run: untypedRun(rejectingPlantRepositoryContract),
      harness: { open: right.open, rejectedPlant: { id: 1n, name: 'Monstera' } },
      message: /^rejectedPlant must be a plant created by Plant.from/,
    },
    {
      mistake: 'rejectedPlant is added',
      run: untypedRun(rejectingPlantRepositoryContract),
      harness: { open: right.open, rejectedPlant: toPlant({ id: 1n, name: 'Monstera' }) },
      message: /^rejectedPlant must be a plant that the storage rejects/,
    },
    {
      mistake: 'a short validToken',
      run: untypedRun(tokenVerifierContract),
      harness: { create: async () => verifier, validToken: 'short' },
      message: /^validToken must have at least 12 ASCII characters/,
    },
    {
      mistake: 'create returns nothing',
      run: untypedRun(tokenVerifierContract),
      harness: { create: async () => undefined, validToken },
      message: /^create\(\) must resolve to a TokenVerifier/,
    },
    {
      mistake: 'no withIssuerUnavailable',
      run: untypedRun(tokenVerifierOutageContract),
      harness: { create: async () => verifier, validToken },
      message: /needs a function withIssuerUnavailable$/,
    },
  ];
}

/** Returns the named case of a contract, by default the first. */
function untypedRun<Harness>(contract: readonly ContractCase<Harness>[], caseName = contract[0]?.name): UntypedRun {
  const found = contract.find(({ name }) => name === caseName);
  if (found === undefined) throw new Error(`the contract has no case "${caseName}"`);
  return (harness) => Reflect.apply(found.run, undefined, [harness]);
}
