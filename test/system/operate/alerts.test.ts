import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { parse } from 'yaml';
import { create, serve } from '../../support/client.js';
import { inRepository } from '../../support/paths.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { temporaryFolder } from '../../support/temporary.js';
import { commandsUnder, run } from './guide.js';

/** The parts of a rule that these tests use. */
interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

const CONFIGURATION = inRepository('docs/operate/prometheus.yml');
const TESTS = inRepository('test/system/operate/alerts.test.yml');
const { groups }: { groups: readonly { rules: readonly Rule[] }[] } = parse(
  readFileSync(inRepository('docs/operate/alerts.yml'), 'utf8'),
);
const rules = groups.flatMap((group) => group.rules);
const { panels }: { panels: readonly { targets: readonly { expr: string }[] }[] } = JSON.parse(
  readFileSync(inRepository('docs/operate/dashboard.json'), 'utf8'),
);
const queries = panels.flatMap(({ targets }) => targets).map(({ expr }) => expr.replaceAll('$__rate_interval', '5m'));

describe('The alert rules', () => {
  const folder = temporaryFolder();
  const promtool = (args: readonly string[], input = '') => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
    expect(status, `${stdout}${stderr}`).to.equal(0);
  };

  it('have a summary, an action and a severity', () => {
    for (const { annotations, labels } of rules.filter((rule) => rule.alert !== undefined)) {
      expect(annotations).to.have.all.keys('summary', 'action');
      expect(labels?.['severity']).to.be.oneOf(['critical', 'warning']);
    }
  });

  for (const [what, ...args] of [
    ['are part of a valid Prometheus configuration', 'check', 'config', CONFIGURATION],
    ['each fire on a failure, and not in normal operation', 'test', 'rules', TESTS],
  ] as const) {
    it(what, function () {
      skipUnlessInstalled(this, 'promtool', '--version');
      promtool(args);
    });
  }

  it('and the queries of the dashboard are valid', function () {
    skipUnlessInstalled(this, 'promtool', '--version');
    const file = join(folder, 'queries.yml');
    const recorded = queries.map((expr, index) => ({ record: `query_${index}`, expr }));
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: recorded }] }));
    promtool(['check', 'rules', file]);
  });

  describe('use metrics of the service, which', () => {
    let metrics: string;
    let management: string;
    before(async () => {
      const tokens = join(folder, 'tokens');
      writeFileSync(tokens, `${'0'.repeat(24)}\n`);
      const jwt = { JWT_ISSUER: 'issuer', JWT_AUDIENCE: 'plants', JWT_JWKS_URL: 'http://127.0.0.1:1/keys' };
      const service = serve(folder, { ACCESS_TOKENS_FILE: tokens, ...jwt, MANAGEMENT_PORT: '0' });
      await create(await service.port(), { id: 1n, name: 'Monstera' });
      management = `http://127.0.0.1:${await service.managementPort()}`;
      metrics = await (await fetch(`${management}/metrics`)).text();
    });

    it('follow the conventions of Prometheus', function () {
      skipUnlessInstalled(this, 'promtool', '--version');
      promtool(['check', 'metrics'], metrics);
    });

    it('include every metric and label in a rule or in the dashboard', () => {
      // Prometheus itself adds the metric `up` and the labels `job` and `instance`.
      const known = new Set(['up', ...rules.map(({ record }) => record)]);
      for (const expr of [...rules.map((rule) => rule.expr), ...queries]) {
        const selectors = [
          ...expr.matchAll(/\b((?:plant_store|process|nodejs|instance_error:)\w*[\w:]*|up)\b(?:\{(.*?)\})?/g),
        ];
        expect(selectors, expr).not.to.have.length(0);
        for (const [, name = '', matchers = ''] of selectors.filter(([, name]) => !known.has(name))) {
          // A counter with labels has no series before the first event.
          expect(metrics).to.match(RegExp(`^# TYPE (${name}|${name.replace(/_(bucket|sum|count)$/, '')}) `, 'm'));
          const series = new RegExp(`^${name}(?:\\{(.*)\\})? `, 'm').exec(metrics);
          for (const [, label] of matchers.matchAll(/\b(?!(?:job|instance)\b)(\w+)[=!]/g))
            expect(series?.[1]).to.include(`${label}="`);
        }
      }
    });

    it('pass the check in the guide', async function () {
      for (const program of ['curl', 'promtool']) skipUnlessInstalled(this, program, '--version');
      const [check] = commandsUnder('Metrics and alerts');
      expect(await run(check, folder, { MANAGEMENT: management })).to.include('"status":"ready"');
    });
  });
});
