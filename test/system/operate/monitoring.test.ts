import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { parse } from 'yaml';
import { create, createRequest, serve, toLines } from '../../support/client.js';
import { section } from '../../support/guide.js';
import { inRepository } from '../../support/paths.js';
import { exchange, RawClient, request } from '../../support/raw-http.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { SqliteFile } from '../../support/sqlite-file.js';
import { temporaryFolder } from '../../support/temporary.js';

/** The parts of a rule that these tests use. */
interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
}

const read = (name: string) => readFileSync(inRepository(`docs/operate/${name}`), 'utf8');
const { groups }: { groups: readonly { rules: readonly Rule[] }[] } = parse(read('alerts.yml'));
const rules = groups.flatMap((group) => group.rules);
const { panels }: { panels: readonly { targets: readonly { expr: string }[] }[] } = JSON.parse(read('dashboard.json'));
const queries = panels.flatMap(({ targets }) => targets).map(({ expr }) => expr.replaceAll('$__rate_interval', '5m'));

describe('Monitoring as in the guide', () => {
  const folder = temporaryFolder();
  let lines: Record<string, unknown>[];
  let metrics: string;

  before(async () => {
    writeFileSync(join(folder, 'tokens'), 'token-of-the-tests\n');
    const service = serve(folder, { ACCESS_TOKENS_FILE: 'tokens', MANAGEMENT_PORT: '0' });
    const port = await service.port();
    // Each kind of line: a create, a rejection, malformed HTTP, a client that disconnects, and a failure.
    for (const name of ['Monstera', 'Ficus']) await create(port, { id: 1n, name });
    await exchange(port, 'no request\r\n\r\n');
    const client = await RawClient.connect(port);
    const bytes = createRequest({ id: 3n, name: 'Monstera' }, { Expect: '100-continue' });
    await client.send(bytes.subarray(0, bytes.indexOf('{'))).readResponse();
    client.socket.resetAndDestroy();
    await service.waitForOutput(/"aborted":true/);
    const file = await SqliteFile.open(`${folder}/plants.db`);
    await file.exec('DROP TABLE plants');
    await file.close();
    await create(port, { id: 2n, name: 'Monstera' });
    metrics = (await exchange(await service.managementPort(), request('GET /metrics')))?.body ?? '';
    await service.stop();
    lines = toLines(service.stderr).map((line) => JSON.parse(line));
  });

  it('has the fields of the log in the guide', () => {
    const logged = lines.filter(({ msg }) => `${msg}`.startsWith('request')).flatMap(Object.keys);
    const rows = section('docs/operate.md', 'The log').matchAll(/^\| (`.*?`) \|/gm);
    const documented = [...rows].flatMap(([, names = '']) => names.match(/\w+/g) ?? []);
    expect(documented).to.have.members([...new Set(logged)]);
  });

  it('has every metric of a rule or of the dashboard', () => {
    const exported = [...metrics.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name);
    // Prometheus itself adds the metric `up`.
    const known = ['up', ...rules.map(({ record }) => record), ...exported];
    for (const { expr } of [...rules, ...queries.map((expr) => ({ expr }))]) {
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
