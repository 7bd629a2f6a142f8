import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { type Plugin, readConfig, services, start } from '../../composition/index.js';
import { exchange, request } from '../support/raw-http.js';

const SETTINGS = { PORT: '0', MANAGEMENT_PORT: '0', DATABASE_URL: 'memory:', ACCESS_TOKENS: 'secret' };
const HEADERS = { Authorization: 'Bearer secret', 'Content-Type': 'application/json' };

/** Runs a service while `use` uses it, and returns the lines of its metrics. */
async function readMetrics(plugin: Plugin, use: (service: Awaited<ReturnType<typeof start>>) => Promise<unknown>) {
  const service = await start(readConfig({ ...SETTINGS, LOG_LEVEL: 'silent' }), plugin);
  await use(service);
  const text = await (await fetch(`${service.managementUrl}/metrics`)).text();
  await service.stop();
  return text.split('\n');
}

describe('The metrics', () => {
  it('count requests without a label that a client chooses', async () => {
    const lines = await readMetrics(
      () => {},
      async ({ url }) => {
        const port = Number(new URL(url).port);
        await exchange(port, request('POST /plants', HEADERS, '{"id":1,"name":""}'));
        await exchange(port, request('POST /plants', HEADERS, '{"id":1,"name":"a"}'));
        await exchange(port, request('PROPFIND /canary'));
        await exchange(port, Buffer.from('garbage\r\n\r\n'));
      },
    );
    expect(lines).to.include.members([
      'plant_store_http_requests_total{method="POST",route="/plants",status="200",error="none"} 1',
      'plant_store_http_requests_total{method="POST",route="/plants",status="409",error="40901"} 1',
      'plant_store_http_requests_total{method="other",route="none",status="404",error="40401"} 1',
      'plant_store_http_requests_total{method="other",route="none",status="400",error="40000"} 1',
      'plant_store_http_request_duration_seconds_bucket{le="10",route="/plants"} 2',
      'plant_store_plants_total{outcome="added"} 1',
      'plant_store_creates_in_flight 0',
      'plant_store_creates_in_flight_bytes 0',
    ]);
  });

  it('count dropped lines of the log, also if a plugin replaces its destination', async () => {
    const destination = Object.assign(new EventEmitter(), { write() {} });
    const lines = await readMetrics(
      (container) => void container.rebind(services.LogDestination).toConstantValue(destination),
      async () => destination.emit('drop'),
    );
    expect(lines).to.include('plant_store_log_lines_dropped_total 1');
  });
});
