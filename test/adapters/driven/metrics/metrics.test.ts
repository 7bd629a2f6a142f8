import { createMetrics } from '@plant-store/adapters/metrics';
import { expect } from 'chai';
import { describe, it } from 'mocha';

describe('createMetrics', () => {
  it("renders counters, gauges and histograms in Prometheus' format, with a prefix", async () => {
    const metrics = await createMetrics('1.0.0');
    const count = metrics.counter('seeds_total', 'Seeds.', ['kind']);
    count({ kind: 'fern' });
    count({ kind: 'fern' });
    let pots = 3;
    metrics.gauge('pots', 'Pots.', () => pots);
    pots = 4;
    const observe = metrics.histogram('height_metres', 'Heights.', [1, 2], ['kind']);
    observe(1.5, { kind: 'palm' });
    expect(metrics.contentType).to.match(/^text\/plain; version=/);
    expect((await metrics.text()).split('\n')).to.include.members([
      'plant_store_build_info{version="1.0.0"} 1',
      '# HELP plant_store_seeds_total Seeds.',
      'plant_store_seeds_total{kind="fern"} 2',
      'plant_store_pots 4',
      'plant_store_height_metres_bucket{le="1",kind="palm"} 0',
      'plant_store_height_metres_bucket{le="2",kind="palm"} 1',
    ]);
  });

  it('has the metrics of the process, without gauges that are named like counters', async () => {
    const text = await (await createMetrics('1.0.0')).text();
    expect(text)
      .to.match(/^process_cpu_seconds_total /m)
      .and.not.match(/^nodejs_active_\w+_total /m);
  });
});
