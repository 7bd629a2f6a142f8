import type { FinishedRequest } from '@plant-store/adapters/api';
import type { InFlight } from '@plant-store/adapters/koa';
import { DURATION_BUCKETS } from '@plant-store/adapters/metrics';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { LogDestination } from './logger.js';
import { version } from './version.js';

const toOptions = (registry: Registry, name: string, help: string, labelNames: readonly string[] = []) => {
  return { name: `plant_store_${name}`, help, labelNames, registers: [registry] };
};

/** Creates a registry with metrics of the process. */
export function createMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Gauges with names of counters, which promtool rejects.
  for (const kind of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${kind}_total`);
  const info = toOptions(registry, 'build_info', 'Always 1; the label holds the version.', ['version']);
  new Gauge(info).set({ version }, 1);
  return registry;
}

/** Adds metrics of HTTP requests. Returns a function that counts and times one. */
export function measureRequests(registry: Registry, inFlight: InFlight): (request: FinishedRequest) => void {
  const labelNames = ['method', 'route', 'status', 'error'];
  const requests = new Counter(toOptions(registry, 'http_requests_total', 'HTTP requests.', labelNames));
  const help = 'Time from the headers of a request to its response.';
  const durations = toOptions(registry, 'http_request_duration_seconds', help, ['route']);
  const seconds = new Histogram({ ...durations, buckets: DURATION_BUCKETS });
  const inFlightHelp = 'Requests in flight, except for those of public routes.';
  addGauge(registry, 'client_requests_in_flight', inFlightHelp, () => inFlight.requests);
  addGauge(registry, 'creates_in_flight_bytes', 'Memory reserved for creates in flight.', () => inFlight.bytes);
  // Node accepts some thirty methods, so clients cannot create many time series.
  return ({ method = 'none', route = 'none', status = 'aborted', error = 'none', durationMs }) => {
    requests.inc({ method, route, status, error });
    if (durationMs !== undefined) seconds.observe({ route }, durationMs / 1000);
  };
}

/** Adds metrics of readiness, dropped log lines and failed token reloads. */
export function measureService(
  registry: Registry,
  isReady: () => Promise<boolean>,
  destination: LogDestination,
  tokens: { readonly failedReloads: number },
): void {
  addGauge(registry, 'ready', '1 if the service can create plants, otherwise 0.', async () => Number(await isReady()));
  const lines = new Counter(toOptions(registry, 'log_lines_dropped_total', 'Log lines dropped for lack of space.'));
  destination.on?.('drop', () => lines.inc());
  new Counter({
    ...toOptions(registry, 'token_reload_failures_total', 'Failed reloads of ACCESS_TOKENS_FILE.'),
    collect() {
      this.reset();
      this.inc(tokens.failedReloads);
    },
  });
}

function addGauge(registry: Registry, name: string, help: string, read: () => number | Promise<number>): void {
  new Gauge({
    ...toOptions(registry, name, help),
    async collect() {
      this.set(await read());
    },
  });
}
