import { expect } from 'chai';
import { describe, it } from 'mocha';
import { createMetrics, measureRequests, measureService } from '../../composition/metrics.js';
import { version } from '../../composition/version.js';

describe('The metrics', () => {
  const linesOf = async (registry: ReturnType<typeof createMetrics>) => (await registry.metrics()).split('\n');

  it('have those of the process, and the version', async () => {
    const registry = createMetrics();
    expect(await linesOf(registry)).to.include(`plant_store_build_info{version="${version}"} 1`);
    expect(await registry.metrics()).to.match(/^process_cpu_seconds_total /m);
  });

  it('count and time requests, and report those in flight', async () => {
    const registry = createMetrics();
    const inFlight = { requests: 0, bytes: 0 };
    const observe = measureRequests(registry, inFlight);
    observe({ method: 'POST', route: '/plants', status: 200, durationMs: 3 });
    observe({ method: 'POST', route: '/plants', durationMs: 3 });
    observe({ method: 'PROPFIND', status: 404, error: 40401, durationMs: 3 });
    observe({ status: 400, error: 40000 });
    Object.assign(inFlight, { requests: 2, bytes: 50 });
    expect(await linesOf(registry)).to.include.members([
      'plant_store_http_requests_total{method="POST",route="/plants",status="200",error="none"} 1',
      'plant_store_http_requests_total{method="POST",route="/plants",status="aborted",error="none"} 1',
      'plant_store_http_requests_total{method="PROPFIND",route="none",status="404",error="40401"} 1',
      'plant_store_http_requests_total{method="none",route="none",status="400",error="40000"} 1',
      'plant_store_http_request_duration_seconds_bucket{le="0.0025",route="/plants"} 0',
      'plant_store_http_request_duration_seconds_bucket{le="0.005",route="/plants"} 2',
      'plant_store_http_request_duration_seconds_count{route="none"} 1',
      'plant_store_client_requests_in_flight 2',
      'plant_store_creates_in_flight_bytes 50',
    ]);
  });

  it('report readiness, dropped log lines and failed token reloads', async () => {
    const registry = createMetrics();
    const tokens = { failedReloads: 1 };
    let isReady = true;
    const listeners: (() => void)[] = [];
    const destination = { write() {}, on: (_: 'drop', listener: () => void) => listeners.push(listener) };
    measureService(registry, async () => isReady, destination, tokens);
    expect(await linesOf(registry)).to.include.members([
      'plant_store_ready 1',
      'plant_store_log_lines_dropped_total 0',
      'plant_store_token_reload_failures_total 1',
    ]);
    isReady = false;
    tokens.failedReloads = 2;
    for (const listener of listeners) listener();
    expect(await linesOf(registry)).to.include.members([
      'plant_store_ready 0',
      'plant_store_log_lines_dropped_total 1',
      'plant_store_token_reload_failures_total 2',
    ]);
  });
});
