import { setTimeout } from 'node:timers/promises';
import type { Column, Ratio, Row, Settings, Table } from './bench.js';
import type { Candidate } from './candidates.js';
import { type ClosedLoop, closedLoop } from './closed-loop.js';
import type { IdOrder } from './ids.js';
import { probe } from './probe.js';
import { refusalOf } from './refusal.js';
import { Server } from './server.js';
import { ratios } from './statistics.js';
import type { Store } from './stores.js';
import { syncsPerAnswer } from './syncs.js';

/** What was measured of one program in one round. */
export interface Sample {
  /** Answers a second. */
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of its process for each answer, in microseconds. */
  readonly cpuUs: number;
  /** The most memory that it has held at once, in MiB. */
  readonly memoryMib: number;
  readonly refused: string | undefined;
}

export interface ClosedLoopOptions {
  readonly connections: number;
  readonly ids?: IdOrder;
  /** Makes the store of a round; a new, empty one by default. */
  readonly store?: () => Promise<Store>;
}

/** How long the load that the program is killed under has been running then, in milliseconds. */
const KILLED_AFTER_MS = 500;

/**
 * One round of one program: start, one plant looked at, warm-up, the load that counts, and `kill -9` under a last load;
 * then the rows of its store are counted against its answers.
 */
export async function closedLoopRound(
  candidate: Candidate,
  { connections, ids = 'ascending', store: makeStore }: ClosedLoopOptions,
  { folder, loadSeconds, warmUpSeconds }: Settings,
): Promise<Sample> {
  const store = await (makeStore?.() ?? candidate.storage?.create(folder));
  try {
    const server = await Server.start(candidate, store, folder);
    try {
      const rowsBefore = makeStore === undefined ? 0 : ((await store?.rows()) ?? 0);
      await probe(server.port);
      const warmUp = await closedLoop(server.port, connections, warmUpSeconds, ids);
      const cpuBefore = server.cpuMs();
      const measured = await closedLoop(server.port, connections, loadSeconds, ids);
      const cpuUs = ((server.cpuMs() - cpuBefore) * 1000) / measured.answers;
      const memoryMib = server.peakMemoryMib();
      const killed = await killUnderLoad(server, connections, ids);
      const rows = candidate.storage && (await store?.rows());
      // The plant that was looked at is a row too.
      const refused = refusalOf([warmUp, measured], killed, rows && rows - rowsBefore - 1);
      const { rate, p50Ms, p99Ms } = measured;
      return { rate, p50Ms, p99Ms, cpuUs, memoryMib, refused };
    } finally {
      await server.kill();
    }
  } finally {
    await store?.drop();
  }
}

/** Ends a program as a crash does while it answers; resolves to what its last load saw. */
export async function killUnderLoad(
  server: Server,
  connections: number,
  ids: IdOrder = 'ascending',
): Promise<ClosedLoop> {
  const load = closedLoop(server.port, connections, 1, ids);
  await setTimeout(KILLED_AFTER_MS);
  await server.kill();
  return load;
}

/** Measures programs in turn, A B C A B C …, so that what changes on the machine meanwhile meets them all. */
export async function inTurn<K extends { readonly name: string }, T>(
  all: readonly K[],
  { rounds, say }: Pick<Settings, 'rounds' | 'say'>,
  round: (one: K) => Promise<T>,
  show: (sample: T) => string,
): Promise<(one: K) => readonly T[]> {
  const samples = new Map<K, T[]>();
  for (let number = 1; number <= rounds; number++) {
    for (const one of all) {
      const sample = await round(one);
      samples.set(one, [...(samples.get(one) ?? []), sample]);
      say(`round ${number}: ${one.name}: ${show(sample)}`);
    }
  }
  return (one) => samples.get(one) ?? [];
}

/** The samples of several programs from closed loops in turn. */
export class ClosedLoopRounds {
  readonly #samplesOf: (candidate: Candidate) => readonly Sample[];
  /** Of those that the engine or a tracer counted: the syncs for each answer. */
  readonly #syncsPerAnswer: ReadonlyMap<Candidate, number>;

  private constructor(samplesOf: (candidate: Candidate) => readonly Sample[], syncs: ReadonlyMap<Candidate, number>) {
    this.#samplesOf = samplesOf;
    this.#syncsPerAnswer = syncs;
  }

  /** Measures all of them; and afterwards, by itself because it slows them, how many syncs an answer takes. */
  static async run(
    candidates: readonly Candidate[],
    options: ClosedLoopOptions,
    settings: Settings,
  ): Promise<ClosedLoopRounds> {
    const samplesOf = await inTurn(
      candidates,
      settings,
      (candidate) => closedLoopRound(candidate, options, settings),
      ({ rate, cpuUs, refused }) => refused ?? `${Math.round(rate)} answers/s, ${cpuUs.toFixed(1)} µs each`,
    );
    const syncs = new Map<Candidate, number>();
    for (const candidate of candidates) {
      const perAnswer = await syncsPerAnswer(candidate, options.connections, settings);
      if (perAnswer === undefined) continue;
      syncs.set(candidate, perAnswer);
      settings.say(`${candidate.name}: ${perAnswer.toFixed(3)} syncs/answer`);
    }
    return new ClosedLoopRounds(samplesOf, syncs);
  }

  table(candidates: readonly Candidate[]): Table {
    return { head: 'program', columns: COLUMNS, rows: candidates.map((candidate) => this.#row(candidate)) };
  }

  #row(candidate: Candidate): Row {
    const samples = this.#samplesOf(candidate);
    const syncs = this.#syncsPerAnswer.get(candidate);
    const figures = FIGURES.map((figure) => [figure, samples.map((sample) => sample[figure])] as const);
    return {
      name: candidate.name,
      cells: { ...Object.fromEntries(figures), ...(syncs === undefined ? {} : { syncs: [syncs] }) },
      refused: refusedIn(samples),
    };
  }

  /** What a figure of `of` is of that of `against`. */
  ratio(
    work: string,
    of: Candidate,
    against: Candidate,
    target: Pick<Ratio, 'atLeast' | 'atMost'> = {},
    figure: (typeof FIGURES)[number] = 'rate',
  ): Ratio {
    const [samples, others] = [this.#samplesOf(of), this.#samplesOf(against)];
    return {
      work,
      ...target,
      samples: ratios(
        samples.map((sample) => sample[figure]),
        others.map((sample) => sample[figure]),
      ),
      refused: refusedIn([...samples, ...others]),
    };
  }
}

const FIGURES = ['rate', 'cpuUs', 'p50Ms', 'p99Ms', 'memoryMib'] as const;

const COLUMNS: readonly Column[] = [
  { key: 'rate', title: 'answers/s', digits: 0 },
  { key: 'cpuUs', title: 'processor, µs/answer', digits: 1 },
  { key: 'syncs', title: 'syncs/answer', digits: 3 },
  { key: 'p50Ms', title: 'median, ms', digits: 1 },
  { key: 'p99Ms', title: '99 of 100, ms', digits: 1 },
  { key: 'memoryMib', title: 'peak memory, MiB', digits: 0 },
];

function refusedIn(samples: readonly Sample[]): string | undefined {
  return samples.find(({ refused }) => refused !== undefined)?.refused;
}
