import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { parse } from 'yaml';
import { create, exchange, request, serve } from '../../support/client.js';
import { inRepository } from '../../support/paths.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { SqliteFile } from '../../support/sqlite-file.js';
import { temporaryFolder } from '../../support/temporary.js';

const read = (name: string) => readFileSync(inRepository(`docs/operate/${name}`), 'utf8');
const { groups }: { groups: { rules: { record?: string; expr: string }[] }[] } = parse(read('alerts.yml'));
const rules = groups.flatMap((group) => group.rules);
const { panels }: { panels: { targets: { expr: string }[] }[] } = JSON.parse(read('dashboard.json'));
const queries = panels.flatMap(({ targets }) => targets).map(({ expr }) => expr.replaceAll('$__rate_interval', '5m'));

describe('Monitoring as in the guide', () => {
  const folder = temporaryFolder();
  let metrics: string;
  before(async () => {
    const service = serve(folder, { MANAGEMENT_PORT: '0' });
    const port = await service.port();
    await create(port, { id: 1n, name: 'Monstera' });
    const file = await SqliteFile.open(join(folder, 'plants.db'));
    await file.exec('ALTER TABLE plants RENAME TO trees');
    await file.close();
    await create(port, { id: 2n, name: 'Ficus' });
    metrics = (await exchange(await service.managementPort(), request('GET /metrics')))?.body ?? '';
  });

  it('every metric of a rule or of the dashboard exists', () => {
    const exported = [...metrics.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name);
    // Prometheus itself adds `up`, and node_exporter what the guide's backup writes.
    const known = ['up', 'plant_store_backup_timestamp_seconds', ...rules.map(({ record }) => record), ...exported];
    for (const expr of [...rules.map((rule) => rule.expr), ...queries]) {
      const names = expr.match(/\b((plant_store|process|nodejs|instance_error:)\w*[\w:]*|up)\b/g) ?? [];
      expect(known, expr).to.include.members(names.map((name) => name.replace(/_(bucket|sum|count)$/, '')));
    }
  });

  it('satisfies promtool: configuration, alerts that fire only on failures, queries of the dashboard, and metrics', function () {
    skipUnlessInstalled(this, 'promtool', '--version');
    const recorded = queries.map((expr, index) => ({ record: `query_${index}`, expr }));
    const file = join(folder, 'queries.yml');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: recorded }] }));
    for (const args of [
      ['check', 'config', inRepository('docs/operate/prometheus.yml')],
      ['test', 'rules', inRepository('test/system/operate/alerts.test.yml')],
      ['check', 'rules', file],
      ['check', 'metrics'],
    ]) {
      const { status, stdout, stderr } = spawnSync('promtool', args, { input: metrics, encoding: 'utf8' });
      expect(status, `${stdout}${stderr}`).to.equal(0);
    }
  });
});
