import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { isPlantStoreError, type Plant, type PlantRepository, PlantRepositoryDecorator } from '../../../core/index.js';

/** The parts of the service whose values are read at each scrape. */
export interface MetricSources {
  readonly load: {
    readonly inFlight: number;
    readonly inFlightBytes: number;
    readonly limits: { readonly maxInFlight: number; readonly maxInFlightBytes: number };
  };
  readonly server: { readonly connections?: number };
  readonly log: { readonly droppedLines: number };
  /** The keys of the token issuer. Their age is `Infinity` before the first fetch. */
  readonly jwtKeys: { readonly ageMs: number; readonly fetchFailures: number };
  /** The tokens file. `loadedAtMs` is the Unix time at which the accepted tokens were read. */
  readonly tokensFile: { readonly isValid: boolean; readonly loadedAtMs: number };
}

/** Metrics by name, with their help. Those that end in `_total` are counters, the others gauges. */
type Observed<Source> = Readonly<Record<string, readonly [help: string, read: (source: Source) => number | undefined]>>;

const OBSERVED: { readonly [Part in keyof MetricSources]: Observed<MetricSources[Part]> } = {
  load: {
    creates_in_flight: ['Creates in flight.', ({ inFlight }) => inFlight],
    creates_in_flight_limit: ['Maximum creates in flight.', ({ limits }) => limits.maxInFlight],
    creates_in_flight_bytes: [
      'Bytes reserved for the bodies of creates in flight.',
      ({ inFlightBytes }) => inFlightBytes,
    ],
    creates_in_flight_bytes_limit: [
      'Maximum bytes of the bodies of creates in flight.',
      ({ limits }) => limits.maxInFlightBytes,
    ],
  },
  server: { http_connections: ['Open client connections.', ({ connections }) => connections] },
  log: { log_lines_dropped_total: ['Log lines that could not be written.', ({ droppedLines }) => droppedLines] },
  jwtKeys: {
    jwt_keys_age_seconds: ["Age of the issuer's keys; +Inf before the first fetch.", ({ ageMs }) => ageMs / 1000],
    jwt_key_fetch_failures_total: ['Failed fetches of these keys.', ({ fetchFailures }) => fetchFailures],
  },
  tokensFile: {
    tokens_last_reload_successful: [
      '1 if the tokens file was valid when it was last read, else 0.',
      (file) => Number(file.isValid),
    ],
    tokens_last_reload_success_timestamp_seconds: [
      'Unix time at which the accepted tokens were read.',
      (file) => file.loadedAtMs / 1000,
    ],
  },
};

/** Histogram buckets in seconds, up to the default `STORAGE_TIMEOUT`. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
/** Gauges that prom-client names like counters. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];
/** Values of the label `method`. Other methods count as `other`, so that clients cannot create time series. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Service metrics. Names and units follow https://prometheus.io/docs/practices/naming/; no label takes an
 * arbitrary value from a client.
 */
export class Metrics {
  readonly #registry = new Registry();
  /** The media type of {@link text}. */
  readonly contentType: string = this.#registry.contentType;
  readonly #requests = new Counter(
    this.#named('http_requests_total', 'HTTP requests.', 'method', 'route', 'status', 'error'),
  );
  readonly #requestSeconds = new Histogram({
    ...this.#named('http_request_duration_seconds', 'Time from the headers of a request to its response.', 'route'),
    buckets: DURATION_BUCKETS,
  });
  readonly #batchPlants = new Histogram({
    ...this.#named('storage_batch_plants', 'Plants per batch.'),
    buckets: BATCH_BUCKETS,
  });
  readonly #storageSeconds = new Histogram({
    ...this.#named('storage_operation_duration_seconds', 'Duration of storage calls.', 'operation'),
    buckets: DURATION_BUCKETS,
  });
  readonly #storageErrors = new Counter(
    this.#named('storage_errors_total', 'Failed storage calls.', 'operation', 'code'),
  );
  readonly #ready = new Gauge(this.#named('ready', '1 if the service can create plants, as /readyz, otherwise 0.'));
  readonly #plants = new Counter(this.#named('plants_total', 'Plants sent to the storage, by outcome.', 'outcome'));

  /** @param version The service version. */
  constructor(version: string) {
    collectDefaultMetrics({ register: this.#registry });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
    new Gauge(this.#named('build_info', 'Always 1; the label holds the version.', 'version')).set({ version }, 1);
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

  /** Reads a part of the service at each scrape, if the service has that part. Leaves out what is not a number. */
  observe<Part extends keyof MetricSources>(part: Part, source: MetricSources[Part] | undefined): void {
    if (source === undefined) return;
    const observed: Observed<MetricSources[Part]> = OBSERVED[part];
    for (const [name, [help, read]] of Object.entries(observed)) {
      const collect = function (this: Counter | Gauge) {
        this.remove();
        try {
          const value = read(source);
          if (typeof value === 'number') this.inc(value);
        } catch {
          // Plugins are not type-checked, and the error would make the scrape fail.
        }
      };
      new (name.endsWith('_total') ? Counter : Gauge)({ ...this.#named(name, help), collect });
    }
  }

  /** Counts and times `add` of a repository. */
  instrument(repository: PlantRepository): PlantRepository {
    const operation = 'add';
    const add = async (plants: readonly Plant[]) => {
      const stop = this.#storageSeconds.startTimer({ operation });
      try {
        const outcomes = await repository.add(plants);
        this.#batchPlants.observe(outcomes.length);
        for (const { kind } of outcomes) this.#plants.inc({ outcome: kind });
        return outcomes;
      } catch (error) {
        this.#storageErrors.inc({ operation, code: isPlantStoreError(error) ? error.code : 'DEFECT' });
        throw error;
      } finally {
        stop();
      }
    };
    return Object.assign(new PlantRepositoryDecorator(repository), { add });
  }

  /** Renders all metrics in Prometheus' text format. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #named<L extends string>(name: string, help: string, ...labelNames: readonly L[]) {
    return { name: `plant_store_${name}`, help, labelNames, registers: [this.#registry] };
  }
}
