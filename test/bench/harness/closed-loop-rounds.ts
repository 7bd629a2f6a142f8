import { setTimeout } from 'node:timers/promises';
import type { Column, Ratio, Row, Settings, Table } from './bench.js';
import type { Candidate } from './candidates.js';
import { type ClosedLoop, closedLoop } from './closed-loop.js';
import type { IdOrder } from './ids.js';
import { probe } from './probe.js';
import { checkRun } from './run-check.js';
import { Server } from './server.js';
import { ratios } from './statistics.js';
import type { Store } from './stores.js';
import { syncsPerResponse } from './syncs.js';

/** Measurements of one program in one round. */
export interface Sample {
  /** Requests per second. */
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time per request, in microseconds. */
  readonly cpuUs: number;
  /** Peak resident memory. */
  readonly memoryMib: number;
  readonly invalidReason: string | undefined;
}

export interface ClosedLoopOptions {
  readonly connections: number;
  readonly ids?: IdOrder;
  /** Creates the store of a round; a new, empty one by default. */
  readonly store?: () => Promise<Store>;
}

/** How long the last load runs before the program is killed. */
const KILL_DELAY_MS = 500;

/**
 * Runs one round of one program: start, one checked create, warm-up, measured load, and `kill -9` under a last load.
 * Then compares the rows in its store with its responses.
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
      const cpuUs = ((server.cpuMs() - cpuBefore) * 1000) / measured.responses;
      const memoryMib = server.peakMemoryMib();
      const killed = await killUnderLoad(server, connections, ids);
      const rows = candidate.storage && (await store?.rows());
      // The checked create also has a row.
      const invalidReason = checkRun([warmUp, measured], killed, rows && rows - rowsBefore - 1);
      const { rate, p50Ms, p99Ms } = measured;
      return { rate, p50Ms, p99Ms, cpuUs, memoryMib, invalidReason };
    } finally {
      await server.kill();
    }
  } finally {
    await store?.drop();
  }
}

/** Kills a program under load; returns the counts of that load. */
export async function killUnderLoad(
  server: Server,
  connections: number,
  ids: IdOrder = 'ascending',
): Promise<ClosedLoop> {
  const load = closedLoop(server.port, connections, 1, ids);
  await setTimeout(KILL_DELAY_MS);
  await server.kill();
  return load;
}

/** Measures programs in turn (A B C A B C …), so that changes on the machine affect all of them. */
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

/** Samples of several programs in closed loops, measured in turn. */
export class ClosedLoopRounds {
  readonly #samplesOf: (candidate: Candidate) => readonly Sample[];
  /** Syncs per request, for programs whose syncs can be counted. */
  readonly #syncsPerResponse: ReadonlyMap<Candidate, number>;

  private constructor(samplesOf: (candidate: Candidate) => readonly Sample[], syncs: ReadonlyMap<Candidate, number>) {
    this.#samplesOf = samplesOf;
    this.#syncsPerResponse = syncs;
  }

  /** Measures all programs, then their syncs per request in separate runs, because tracing slows them down. */
  static async run(
    candidates: readonly Candidate[],
    options: ClosedLoopOptions,
    settings: Settings,
  ): Promise<ClosedLoopRounds> {
    const samplesOf = await inTurn(
      candidates,
      settings,
      (candidate) => closedLoopRound(candidate, options, settings),
      ({ rate, cpuUs, invalidReason }) =>
        invalidReason ?? `${Math.round(rate)} requests/s, ${cpuUs.toFixed(1)} µs each`,
    );
    const syncs = new Map<Candidate, number>();
    for (const candidate of candidates) {
      const perRequest = await syncsPerResponse(candidate, options.connections, settings);
      if (perRequest === undefined) continue;
      syncs.set(candidate, perRequest);
      settings.say(`${candidate.name}: ${perRequest.toFixed(3)} syncs/request`);
    }
    return new ClosedLoopRounds(samplesOf, syncs);
  }

  table(candidates: readonly Candidate[]): Table {
    return { head: 'program', columns: COLUMNS, rows: candidates.map((candidate) => this.#row(candidate)) };
  }

  #row(candidate: Candidate): Row {
    const samples = this.#samplesOf(candidate);
    const syncs = this.#syncsPerResponse.get(candidate);
    const figures = FIGURES.map((figure) => [figure, samples.map((sample) => sample[figure])] as const);
    return {
      name: candidate.name,
      cells: { ...Object.fromEntries(figures), ...(syncs === undefined ? {} : { syncs: [syncs] }) },
      invalidReason: invalidReasonIn(samples),
    };
  }

  /** Returns the ratio of a figure between two programs. */
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
      invalidReason: invalidReasonIn([...samples, ...others]),
    };
  }
}

const FIGURES = ['rate', 'cpuUs', 'p50Ms', 'p99Ms', 'memoryMib'] as const;

const COLUMNS: readonly Column[] = [
  { key: 'rate', title: 'requests/s', digits: 0 },
  { key: 'cpuUs', title: 'processor, µs/request', digits: 1 },
  { key: 'syncs', title: 'syncs/request', digits: 3 },
  { key: 'p50Ms', title: 'median, ms', digits: 1 },
  { key: 'p99Ms', title: 'p99, ms', digits: 1 },
  { key: 'memoryMib', title: 'peak memory, MiB', digits: 0 },
];

function invalidReasonIn(samples: readonly Sample[]): string | undefined {
  return samples.find(({ invalidReason }) => invalidReason !== undefined)?.invalidReason;
}
