import { createMetrics } from '@plant-store/adapters/metrics';
import { expect } from 'chai';
import { describe, it } from 'mocha';

describe('createMetrics', () => {
  it("renders counters, gauges and histograms in Prometheus' format, with a prefix", async () => {
    const metrics = await createMetrics('1.0.0');
    metrics.counter('seeds_total', 'Seeds.', ['kind'])({ kind: 'fern' }, 2);
    metrics.gauge('pots', 'Pots.', async () => 4);
    metrics.histogram('height_metres', 'Heights.', [1, 2], ['kind'])(1.5, { kind: 'palm' });
    const text = await metrics.text();
    expect(text.split('\n')).to.include.members([
      'plant_store_build_info{version="1.0.0"} 1',
      'plant_store_seeds_total{kind="fern"} 2',
      'plant_store_pots 4',
      'plant_store_height_metres_bucket{le="1",kind="palm"} 0',
      'plant_store_height_metres_bucket{le="2",kind="palm"} 1',
    ]);
    // Those of the process, but no gauges that are named like counters.
    expect(text)
      .to.match(/^process_cpu_seconds_total /m)
      .and.not.match(/^nodejs_active_\w+_total /m);
  });
});
