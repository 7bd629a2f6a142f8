import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Metrics } from '../../../../adapters/driven/metrics/index.js';

describe('Metrics', () => {
  it('leave out what a plugin reports wrongly, and keep the rest', async () => {
    const metrics = new Metrics('1.0.0');
    const files = {
      get sizeBytes(): number {
        throw new Error('no such file');
      },
      logSizeBytes: 4096,
    };
    metrics.observe('files', files);
    metrics.observe('server', {});
    const lines = (await metrics.text()).split('\n');
    expect(lines).to.include('plant_store_storage_log_size_bytes 4096');
    expect(lines.filter((line) => /^plant_store_(storage_size_bytes|http_connections) /.test(line))).to.deep.equal([]);
  });

  it('have the same total at each scrape', async () => {
    const metrics = new Metrics('1.0.0');
    metrics.observe('log', { droppedLines: 3 });
    await metrics.text();
    expect(await metrics.text()).to.include('plant_store_log_lines_dropped_total 3\n');
  });
});
