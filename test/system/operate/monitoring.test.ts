import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { parse } from 'yaml';
import { AUDIENCE, ISSUER, Issuer, type Key, newKey, sign } from '../../adapters/driven/jwt/issuer.js';
import { beginCreate, create, serve, toLines } from '../../support/client.js';
import type { Program } from '../../support/executable.js';
import { section } from '../../support/guide.js';
import { inRepository } from '../../support/paths.js';
import { exchange, request } from '../../support/raw-http.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { SqliteFile } from '../../support/sqlite-file.js';
import { temporaryFolder } from '../../support/temporary.js';
import { waitUntil } from '../../support/wait-until.js';

const read = (name: string) => readFileSync(inRepository(`docs/operate/${name}`), 'utf8');
const { groups }: { groups: { rules: { record?: string; expr: string }[] }[] } = parse(read('alerts.yml'));
const rules = groups.flatMap((group) => group.rules);
const { panels }: { panels: { targets: { expr: string }[] }[] } = JSON.parse(read('dashboard.json'));
const queries = panels.flatMap(({ targets }) => targets).map(({ expr }) => expr.replaceAll('$__rate_interval', '5m'));

describe('Monitoring as in the guide', () => {
  const folder = temporaryFolder();
  let key: Key;
  let issuer: Issuer;
  let service: Program;
  let port: number;
  let managementPort: number;
  let metrics: string;
  const get = async (path: string) => {
    const { status, body = '' } = (await exchange(managementPort, request(`GET ${path}`))) ?? {};
    return `${status} ${body}`;
  };

  before(async () => {
    writeFileSync(join(folder, 'tokens'), 'token-of-the-tests\n');
    key = await newKey();
    issuer = await Issuer.start(key);
    const jwt = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE, JWT_JWKS_URL: issuer.jwksUrl.href };
    service = serve(folder, { ACCESS_TOKENS_FILE: 'tokens', MANAGEMENT_PORT: '0', ...jwt });
    [port, managementPort] = [await service.port(), await service.managementPort()];
  });

  after(() => issuer.stop());

  it('/readyz fails while the storage is unavailable and during a shutdown, and is on the management listener alone', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics'])
      expect((await exchange(port, request(`GET ${path}`)))?.outcome, 'on the public listener').to.equal(40401);
    const checks = (text: string) => `"checks":{"service":${text}}}`;
    const ready = `200 {"status":"ready",${checks('"ok","storage":"ok"')}`;
    expect(await get('/readyz')).to.equal(ready);

    // Each kind of line: a create, a rejection, a client with an issuer, malformed HTTP, a client that disconnects, and a failure.
    const canaries = { name: 'canary-name', tag: 'canary-tag' };
    const traced = { Traceparent: `00-${'4b'.repeat(16)}-${'f0'.repeat(8)}-01` };
    for (const id of [1n, 1n, 2n]) await create(port, { id, ...canaries }, traced);
    await exchange(port, request('CANARY /made-up?canary-query', { Authorization: 'Bearer canary-token' }));
    await exchange(port, request('POST /plants', { Authorization: `Bearer ${await sign(key)}` }));
    await exchange(port, 'no request\r\n\r\n');
    (await beginCreate(port, { id: 3n, name: 'Monstera' })).client.socket.resetAndDestroy();
    await service.waitForOutput(/"aborted":true/);
    const file = await SqliteFile.open(join(folder, 'plants.db'));
    await file.exec('ALTER TABLE plants RENAME TO others');
    await create(port, { id: 2n, ...canaries });
    expect(await get('/readyz')).to.equal(`503 {"status":"not ready",${checks('"ok","storage":"unavailable"')}`);
    expect(await get('/healthz')).to.equal('200 {"status":"ok"}');
    await file.exec('ALTER TABLE others RENAME TO plants');
    await file.close();
    await waitUntil('the service is ready', async () => (await get('/readyz')) === ready);

    metrics = (await get('/metrics')).slice('200 '.length);
    // A request in flight delays the exit.
    const { finish } = await beginCreate(port, { id: 3n, name: 'Monstera' });
    await service.kill('SIGTERM').waitForOutput(/"stopping"/);
    expect(await get('/readyz')).to.equal(`503 {"status":"not ready",${checks('"stopping","storage":"ok"')}`);
    expect((await finish().readResponse())?.outcome).to.equal(200);
    expect(await service.exited()).to.equal(0);
  });

  it('/metrics count requests and plants, and contain nothing that a client chose', () => {
    for (const line of [
      'plant_store_http_requests_total{method="POST",route="/plants",status="409",error="40902"} 1',
      'plant_store_plants_total{outcome="conflict"} 1',
      'plant_store_storage_batch_plants_count 3',
    ])
      expect(metrics).to.include(`\n${line}\n`);
    expect(metrics).not.to.match(/canary|made-up/i);
  });

  it('the log has the fields in the guide', () => {
    const lines = toLines(service.stderr).map((line): Record<string, unknown> => JSON.parse(line));
    const logged = lines.filter(({ msg }) => `${msg}`.startsWith('request')).flatMap(Object.keys);
    const rows = section('docs/operate.md', 'The log').matchAll(/^\| (`.*?`) \|/gm);
    const documented = [...rows].flatMap(([, names = '']) => names.match(/\w+/g) ?? []);
    expect(documented).to.have.members([...new Set(logged)]);
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
