import { DURATION_BUCKETS, type Metrics } from './metrics.js';

/** Values of the label `method`. Other methods count as `other`, so that clients cannot create time series. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** A finished request. Without a status, the client has disconnected before. */
interface FinishedRequest {
  readonly method?: string | undefined;
  readonly route?: string | undefined;
  readonly status?: number | undefined;
  /** The error number of a rejection. */
  readonly error?: number | undefined;
  readonly durationMs?: number | undefined;
}

/** Adds metrics of HTTP requests. Returns a function that counts and times one. @param load The creates in flight. */
export function measureRequests(
  metrics: Metrics,
  load: { readonly inFlight: number; readonly inFlightBytes: number },
): (request: FinishedRequest) => void {
  const count = metrics.counter('http_requests_total', 'HTTP requests.', ['method', 'route', 'status', 'error']);
  const help = 'Time from the headers of a request to its response.';
  const observeSeconds = metrics.histogram('http_request_duration_seconds', help, DURATION_BUCKETS, ['route']);
  metrics.gauge('creates_in_flight', 'Creates in flight.', () => load.inFlight);
  const bytesHelp = 'Memory reserved for creates in flight.';
  metrics.gauge('creates_in_flight_bytes', bytesHelp, () => load.inFlightBytes);
  return ({ method = '', route = 'none', status = 'aborted', error = 'none', durationMs }) => {
    count({ method: METHODS.includes(method) ? method : 'other', route, status, error });
    if (durationMs !== undefined) observeSeconds(durationMs / 1000, { route });
  };
}
