import type { FinishedRequest, Load } from '@plant-store/adapters/koa';
import { DURATION_BUCKETS, MeasuredPlantRepository, type Metrics } from '@plant-store/adapters/metrics';
import type { Container } from 'inversify';
import { services } from './services.js';

/** Values of the label `method`. Other methods count as `other`, so that clients cannot create time series. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Adds metrics to the parts, when they are created. Call it after the plugins: rebinding a service removes its activations. */
export function measure(container: Container): void {
  container.onActivation(
    services.BatchRepository,
    async (context, repository) => new MeasuredPlantRepository(repository, await context.getAsync(services.Metrics)),
  );
  container.onActivation(services.LogDestination, async (context, destination) => {
    const metrics = await context.getAsync(services.Metrics);
    const count = metrics.counter('log_lines_dropped_total', 'Log lines dropped for lack of space.');
    destination.on?.('drop', () => count());
    return destination;
  });
  container.onActivation(services.ObserveRequest, async (context) =>
    measureRequests(await context.getAsync(services.Metrics), context.get(services.Load)),
  );
}

function measureRequests(metrics: Metrics, load: Load): (request: FinishedRequest) => void {
  const count = metrics.counter('http_requests_total', 'HTTP requests.', ['method', 'route', 'status', 'error']);
  const help = 'Time from the headers of a request to its response.';
  const observeSeconds = metrics.histogram('http_request_duration_seconds', help, DURATION_BUCKETS, ['route']);
  metrics.gauge('creates_in_flight', 'Creates in flight.', () => load.inFlight);
  const bytesHelp = 'Bytes reserved for the bodies of creates in flight.';
  metrics.gauge('creates_in_flight_bytes', bytesHelp, () => load.inFlightBytes);
  return ({ method = '', route = 'none', status = 'aborted', error = 'none', durationMs }) => {
    count({ method: METHODS.includes(method) ? method : 'other', route, status, error });
    if (durationMs !== undefined) observeSeconds(durationMs / 1000, { route });
  };
}
