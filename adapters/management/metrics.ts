import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type AddOutcome, type Plant, type PlantRepository, PlantStoreError } from '../../core/index.js';

/** A request that was answered, or whose client left before. */
export interface Answered {
  readonly method?: string | undefined;
  /** The path of the interface that it came to, if any. */
  readonly route?: string | undefined;
  readonly status?: number | undefined;
  /** The error number, where it was refused. */
  readonly error?: number | undefined;
  readonly durationMs?: number | undefined;
}

/** What is under way, and how much may be. */
export interface Load {
  readonly pending: number;
  readonly pendingBytes: number;
  readonly limits: { readonly maxPending: number; readonly maxPendingBytes: number };
}

/** Buckets from half a millisecond to ten seconds, which is as long as a create may wait by default. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const PLANTS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
/** Gauges that prom-client names as counters are named. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];
/** Methods that have a name of their own in the metrics; whatever else a client makes up is one of the others. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * What the service tells Prometheus. Names and units follow its conventions
 * (https://prometheus.io/docs/practices/naming/); no label takes its value from a client.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests = this.#counter('http_requests_total', 'Requests that were answered.', [
    'method',
    'route',
    'status',
    'error',
  ]);
  readonly #requestSeconds = this.#histogram(
    'http_request_duration_seconds',
    'Time from the head of a request to its answer.',
    SECONDS,
    ['route'],
  );
  readonly #batchPlants = this.#histogram('storage_batch_plants', 'Plants that were written together.', PLANTS, []);
  readonly #storageSeconds = this.#histogram(
    'storage_operation_duration_seconds',
    'Time that the storage took.',
    SECONDS,
    ['operation'],
  );
  readonly #storageErrors = this.#counter('storage_errors_total', 'Calls of the storage that failed.', [
    'operation',
    'code',
  ]);
  readonly #plants = this.#counter('plants_total', 'Plants that came to the storage, by what became of them.', [
    'outcome',
  ]);

  /** @param version of the service */
  constructor(version: string) {
    collectDefaultMetrics({ register: this.#registry });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
    this.#gauge('build_info', 'Always 1; the version is in the label.', ['version']).set({ version }, 1);
  }

  /** Counts a request. */
  readonly onAnswered = ({ method, route = 'none', status, error, durationMs }: Answered): void => {
    const known = method !== undefined && METHODS.has(method) ? method : 'other';
    this.#requests.inc({ method: known, route, status: status ?? 'aborted', error: error ?? 'none' });
    if (durationMs !== undefined) this.#requestSeconds.observe({ route }, durationMs / 1000);
  };

  /** Has the load looked up at each scrape. */
  watch(load: Load): void {
    this.#gauge('pending_creates', 'Creates under way.', [], () => load.pending);
    this.#gauge('pending_creates_limit', 'The most creates that may be under way.', [], () => load.limits.maxPending);
    this.#gauge('pending_bytes', 'Bytes of the bodies of the creates under way.', [], () => load.pendingBytes);
    this.#gauge('pending_bytes_limit', 'The most bytes of them.', [], () => load.limits.maxPendingBytes);
  }

  /** A repository that does what `plants` does, and counts it. */
  observed(plants: PlantRepository): PlantRepository {
    return new ObservedPlantRepository(plants, this);
  }

  /** Times a call of the storage, and counts it where it fails. */
  async storage<T>(operation: 'add' | 'ready', call: () => Promise<T>): Promise<T> {
    const stop = this.#storageSeconds.startTimer({ operation });
    try {
      return await call();
    } catch (error) {
      this.#storageErrors.inc({ operation, code: error instanceof PlantStoreError ? error.code : 'DEFECT' });
      throw error;
    } finally {
      stop();
    }
  }

  added(outcomes: readonly AddOutcome[]): void {
    this.#batchPlants.observe(outcomes.length);
    const counts = new Map<string, number>();
    for (const { kind } of outcomes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    for (const [outcome, count] of counts) this.#plants.inc({ outcome }, count);
  }

  /** Everything in Prometheus' text format, and its media type. */
  async text(): Promise<{ readonly type: string; readonly body: string }> {
    return { type: this.#registry.contentType, body: await this.#registry.metrics() };
  }

  #counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name: `plant_store_${name}`, help, labelNames, registers: [this.#registry] });
  }

  #histogram<L extends string>(name: string, help: string, buckets: number[], labelNames: readonly L[]): Histogram<L> {
    return new Histogram({ name: `plant_store_${name}`, help, buckets, labelNames, registers: [this.#registry] });
  }

  #gauge<L extends string>(name: string, help: string, labelNames: readonly L[], value?: () => number): Gauge<L> {
    return new Gauge({
      name: `plant_store_${name}`,
      help,
      labelNames,
      registers: [this.#registry],
      ...(value === undefined
        ? {}
        : {
            collect() {
              this.set(value());
            },
          }),
    });
  }
}

class ObservedPlantRepository implements PlantRepository {
  readonly #plants: PlantRepository;
  readonly #metrics: Metrics;

  constructor(plants: PlantRepository, metrics: Metrics) {
    this.#plants = plants;
    this.#metrics = metrics;
  }

  async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    const outcomes = await this.#metrics.storage('add', () => this.#plants.add(plants));
    this.#metrics.added(outcomes);
    return outcomes;
  }

  readAll(): AsyncIterable<readonly Plant[]> {
    return this.#plants.readAll();
  }

  ready(): Promise<void> {
    return this.#metrics.storage('ready', () => this.#plants.ready());
  }

  close(): Promise<void> {
    return this.#plants.close();
  }
}
