import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { Registry } from 'prom-client';
import { createMetrics, measureRequests, measureService } from '../../composition/metrics.js';
import { version } from '../../composition/version.js';

describe('The metrics', () => {
  const linesOf = async (registry: Registry) => (await registry.metrics()).split('\n');

  it('have the version, count and time requests, and report those in flight', async () => {
    const registry = createMetrics();
    const observe = measureRequests(registry, { requests: 2, bytes: 50 });
    observe({ method: 'POST', route: '/plants', status: 200, durationMs: 3 });
    observe({ method: 'PROPFIND', route: '/plants', durationMs: 3 });
    observe({ status: 400, error: 40000 });
    expect(await linesOf(registry)).to.include.members([
      `plant_store_build_info{version="${version}"} 1`,
      'plant_store_http_requests_total{method="POST",route="/plants",status="200",error="none"} 1',
      'plant_store_http_requests_total{method="PROPFIND",route="/plants",status="aborted",error="none"} 1',
      'plant_store_http_requests_total{method="none",route="none",status="400",error="40000"} 1',
      'plant_store_http_request_duration_seconds_bucket{le="0.0025",route="/plants"} 0',
      'plant_store_http_request_duration_seconds_bucket{le="0.005",route="/plants"} 2',
      'plant_store_http_request_duration_seconds_count{route="/plants"} 2',
      'plant_store_client_requests_in_flight 2',
      'plant_store_creates_in_flight_bytes 50',
    ]);
  });

  it('report readiness, dropped log lines and failed token reloads', async () => {
    const registry = createMetrics();
    const tokens = { failedReloads: 0 };
    const drops = new EventEmitter();
    const destination = { write() {}, on: drops.on.bind(drops) };
    measureService(registry, async () => true, destination, tokens);
    drops.emit('drop');
    for (tokens.failedReloads of [1, 2])
      expect(await linesOf(registry)).to.include.members([
        'plant_store_ready 1',
        'plant_store_log_lines_dropped_total 1',
        `plant_store_token_reload_failures_total ${tokens.failedReloads}`,
      ]);
  });
});
