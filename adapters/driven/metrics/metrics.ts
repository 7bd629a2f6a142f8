import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type AddOutcome, isPlantStoreError, type PlantRepository } from '../../../core/index.js';

/** The creates in flight, and their limits. */
export interface Load {
  readonly inFlight: number;
  readonly inFlightBytes: number;
  readonly limits: { readonly maxInFlight: number; readonly maxInFlightBytes: number };
}

/** Histogram buckets in seconds, up to the default `STORAGE_TIMEOUT`. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
/** Gauges that prom-client names like counters. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];
/** Values of the label `method`. Other methods count as `other`, so that clients cannot create time series. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * The metrics of the service. Names and units follow https://prometheus.io/docs/practices/naming/; no label takes an
 * arbitrary value from a client.
 */
export class Metrics {
  readonly #registry = new Registry();
  /** The media type of {@link text}. */
  readonly contentType: string = this.#registry.contentType;
  readonly #requests = new Counter(
    this.#options('http_requests_total', 'HTTP requests.', ['method', 'route', 'status', 'error']),
  );
  readonly #requestSeconds = new Histogram({
    ...this.#options('http_request_duration_seconds', 'Time from the headers of a request to its response.', ['route']),
    buckets: DURATION_BUCKETS,
  });
  readonly #batchPlants = new Histogram({
    ...this.#options('storage_batch_plants', 'Plants per batch.'),
    buckets: BATCH_BUCKETS,
  });
  readonly #storageSeconds = new Histogram({
    ...this.#options('storage_operation_duration_seconds', 'Duration of storage calls.', ['operation']),
    buckets: DURATION_BUCKETS,
  });
  readonly #storageErrors = new Counter(
    this.#options('storage_errors_total', 'Failed storage calls.', ['operation', 'code']),
  );
  readonly #ready = new Gauge(this.#options('ready', '1 if the service can create plants, as /readyz, otherwise 0.'));
  readonly #plants = new Counter(this.#options('plants_total', 'Plants sent to the storage, by outcome.', ['outcome']));

  /** @param version The version of the service. */
  constructor(version: string) {
    collectDefaultMetrics({ register: this.#registry });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
    new Gauge(this.#options('build_info', 'Always 1; the label holds the version.', ['version'])).set({ version }, 1);
  }

  /** Counts a finished HTTP request. `status` is absent if the client disconnected before its request was complete. */
  readonly onRequestEnd = (request: {
    readonly method?: string | undefined;
    readonly route?: string | undefined;
    readonly status?: number | undefined;
    readonly error?: number | undefined;
    readonly durationMs?: number | undefined;
  }): void => {
    const { method, route = 'none', status, error, durationMs } = request;
    const methodLabel = method !== undefined && METHODS.has(method) ? method : 'other';
    this.#requests.inc({ method: methodLabel, route, status: status ?? 'aborted', error: error ?? 'none' });
    if (durationMs !== undefined) this.#requestSeconds.observe({ route }, durationMs / 1000);
  };

  /** Reports whether the service can create plants. */
  setReady(isReady: boolean): void {
    this.#ready.set(isReady ? 1 : 0);
  }

  /** Reads the load at each scrape. Its limits must not change. */
  observeLoad(load: Load): void {
    const { maxInFlight, maxInFlightBytes } = load.limits;
    this.#observe('creates_in_flight', 'Creates in flight.', () => load.inFlight);
    this.#observe('creates_in_flight_limit', 'Maximum creates in flight.', () => maxInFlight);
    this.#observe(
      'creates_in_flight_bytes',
      'Bytes reserved for the bodies of creates in flight.',
      () => load.inFlightBytes,
    );
    this.#observe(
      'creates_in_flight_bytes_limit',
      'Maximum of plant_store_creates_in_flight_bytes.',
      () => maxInFlightBytes,
    );
  }

  /** Reads the number of dropped log lines at each scrape. */
  observeDroppedLines(count: () => number): void {
    new Counter({
      ...this.#options('log_lines_dropped_total', 'Log lines dropped because standard error could not be written to.'),
      collect() {
        this.reset();
        this.inc(count());
      },
    });
  }

  /** Counts and times `add` of a repository. */
  instrument(repository: PlantRepository): PlantRepository {
    return {
      add: async (plants) => {
        const outcomes = await this.#time('add', () => repository.add(plants));
        this.#countOutcomes(outcomes);
        return outcomes;
      },
      readAll: () => repository.readAll(),
    };
  }

  /** Renders all metrics in Prometheus' text format. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  async #time<T>(operation: 'add' | 'ready', call: () => Promise<T>): Promise<T> {
    const stop = this.#storageSeconds.startTimer({ operation });
    try {
      return await call();
    } catch (error) {
      this.#storageErrors.inc({ operation, code: isPlantStoreError(error) ? error.code : 'DEFECT' });
      throw error;
    } finally {
      stop();
    }
  }

  #countOutcomes(outcomes: readonly AddOutcome[]): void {
    this.#batchPlants.observe(outcomes.length);
    const counts = new Map<string, number>();
    for (const { kind } of outcomes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    for (const [outcome, count] of counts) this.#plants.inc({ outcome }, count);
  }

  #observe(name: string, help: string, read: () => number): void {
    new Gauge({
      ...this.#options(name, help),
      collect() {
        this.set(read());
      },
    });
  }

  #options<L extends string>(name: string, help: string, labelNames: readonly L[] = []) {
    return { name: `plant_store_${name}`, help, labelNames, registers: [this.#registry] };
  }
}
