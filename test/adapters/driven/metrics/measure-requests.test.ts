import { createMetrics, measureRequests } from '@plant-store/adapters/metrics';
import { expect } from 'chai';
import { describe, it } from 'mocha';

describe('measureRequests', () => {
  it('counts and times requests without a label that a client chooses, and reports the creates in flight', async () => {
    const metrics = await createMetrics('1.0.0');
    const load = { inFlight: 0, inFlightBytes: 0 };
    const observe = measureRequests(metrics, load);
    observe({ method: 'POST', route: '/plants', status: 200, durationMs: 3 });
    observe({ method: 'POST', route: '/plants', durationMs: 3 });
    observe({ method: 'PROPFIND', status: 404, error: 40401, durationMs: 3 });
    observe({ status: 400, error: 40000 });
    Object.assign(load, { inFlight: 2, inFlightBytes: 50 });
    expect((await metrics.text()).split('\n')).to.include.members([
      'plant_store_http_requests_total{method="POST",route="/plants",status="200",error="none"} 1',
      'plant_store_http_requests_total{method="POST",route="/plants",status="aborted",error="none"} 1',
      'plant_store_http_requests_total{method="other",route="none",status="404",error="40401"} 1',
      'plant_store_http_requests_total{method="other",route="none",status="400",error="40000"} 1',
      'plant_store_http_request_duration_seconds_bucket{le="0.0025",route="/plants"} 0',
      'plant_store_http_request_duration_seconds_bucket{le="0.005",route="/plants"} 2',
      'plant_store_http_request_duration_seconds_count{route="none"} 1',
      'plant_store_creates_in_flight 2',
      'plant_store_creates_in_flight_bytes 50',
    ]);
  });
});
