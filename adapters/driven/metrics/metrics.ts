import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { isPlantStoreError, type Plant, type PlantRepository, PlantRepositoryDecorator } from '../../../core/index.js';

/** Histogram buckets in seconds, up to the default `STORAGE_TIMEOUT`. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
/** Gauges that prom-client names like counters. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];
/** Values of the label `method`. Other methods count as `other`, so that clients cannot create time series. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** A finished HTTP request. */
export interface FinishedRequest {
  readonly method?: string | undefined;
  readonly route?: string | undefined;
  /** Absent if the client disconnected before its request was complete. */
  readonly status?: number | undefined;
  readonly error?: number | undefined;
  readonly durationMs?: number | undefined;
}

/** Metrics of a service. No label takes an arbitrary value from a client. */
export class Metrics {
  readonly #registry = new Registry();
  /** The media type of {@link text}. */
  readonly contentType: string = this.#registry.contentType;
  readonly #ready = new Gauge(this.#named('ready', '1 if the service can create plants, as /readyz, otherwise 0.'));

  /** @param version The service version. */
  constructor(version: string) {
    collectDefaultMetrics({ register: this.#registry });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
    new Gauge(this.#named('build_info', 'Always 1; the label holds the version.', 'version')).set({ version }, 1);
  }

  /** Reports whether the service can create plants. */
  setReady(isReady: boolean): void {
    this.#ready.set(isReady ? 1 : 0);
  }

  /** Adds a gauge that is read at each scrape. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      ...this.#named(name, help),
      collect() {
        this.set(read());
      },
    });
  }

  /** Adds a counter. Returns a function that increments it. */
  counter(name: string, help: string): () => void {
    const counter = new Counter(this.#named(name, help));
    return () => counter.inc();
  }

  /** Adds metrics of HTTP requests. Returns a function to call at the end of each. */
  requests(): (request: FinishedRequest) => void {
    const labels = ['method', 'route', 'status', 'error'] as const;
    const requests = new Counter(this.#named('http_requests_total', 'HTTP requests.', ...labels));
    const help = 'Time from the headers of a request to its response.';
    const duration = this.#named('http_request_duration_seconds', help, 'route');
    const seconds = new Histogram({ ...duration, buckets: DURATION_BUCKETS });
    return ({ method = '', route = 'none', status = 'aborted', error = 'none', durationMs }) => {
      requests.inc({ method: METHODS.has(method) ? method : 'other', route, status, error });
      if (durationMs !== undefined) seconds.observe({ route }, durationMs / 1000);
    };
  }

  /** Adds metrics of a storage. Returns a repository that counts and times its calls of `add`. */
  measure(repository: PlantRepository): PlantRepository {
    const plantsByOutcome = new Counter(this.#named('plants_total', 'Plants sent to the storage.', 'outcome'));
    const named = this.#named('storage_batch_plants', 'Plants per batch.');
    const batchPlants = new Histogram({ ...named, buckets: BATCH_BUCKETS });
    const duration = this.#named('storage_operation_duration_seconds', 'Duration of storage calls.');
    const seconds = new Histogram({ ...duration, buckets: DURATION_BUCKETS });
    const errors = new Counter(this.#named('storage_errors_total', 'Failed storage calls.', 'code'));
    const add = async (plants: readonly Plant[]) => {
      const stop = seconds.startTimer();
      try {
        const outcomes = await repository.add(plants);
        batchPlants.observe(outcomes.length);
        for (const { kind } of outcomes) plantsByOutcome.inc({ outcome: kind });
        return outcomes;
      } catch (error) {
        errors.inc({ code: isPlantStoreError(error) ? error.code : 'DEFECT' });
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
