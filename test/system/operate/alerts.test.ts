import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, beforeEach, describe, it } from 'mocha';
import { parse } from 'yaml';
import { create, serve } from '../../support/client.js';
import { inRepository } from '../../support/paths.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { temporaryFolder } from '../../support/temporary.js';
import { commandsUnder, guide, run } from './guide.js';

/** The parts of the rule file that these tests use. */
interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert?: string;
      readonly record?: string;
      readonly expr: string;
      readonly labels?: Readonly<Record<string, string>>;
      readonly annotations?: Readonly<Record<string, string>>;
    }[];
  }[];
}

const ALERTS = inRepository('docs/operate/alerts.yml');

describe('The alert rules', () => {
  const { groups }: Rules = parse(readFileSync(ALERTS, 'utf8'));
  const rules = groups.flatMap((group) => group.rules);
  const alerts = rules.filter(({ alert }) => alert !== undefined);

  it('have a summary, an action and a severity', () => {
    for (const { annotations, labels } of alerts) {
      expect(annotations).to.have.all.keys('summary', 'action');
      expect(labels?.['severity']).to.be.oneOf(['critical', 'warning']);
    }
  });

  it('are listed in the troubleshooting table of the guide', () => {
    const [, section = ''] = guide.split('## Troubleshooting');
    for (const { alert } of alerts) expect(section).to.include(`\`${alert}\``);
  });

  describe('according to promtool', () => {
    before(function () {
      skipUnlessInstalled(this, 'promtool', '--version');
    });
    const promtool = (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
      expect(status, `${stdout}${stderr}`).to.equal(0);
    };

    it('are valid', () => promtool('check', 'rules', ALERTS));

    it('are part of a valid Prometheus configuration', () => {
      promtool('check', 'config', inRepository('docs/operate/prometheus.yml'));
    });

    it('each fire on a failure, and not in normal operation', () => {
      promtool('test', 'rules', inRepository('test/system/operate/alerts.test.yml'));
    });
  });

  describe('use metrics of the service, which', () => {
    const folder = temporaryFolder();
    let metrics: string;
    let management: string;
    beforeEach(async () => {
      const tokens = join(folder, 'tokens');
      writeFileSync(tokens, `${'0'.repeat(24)}\n`);
      const jwt = { JWT_ISSUER: 'issuer', JWT_AUDIENCE: 'plants', JWT_JWKS_URL: 'http://127.0.0.1:1/keys' };
      const service = serve(folder, { ACCESS_TOKENS_FILE: tokens, ...jwt, MANAGEMENT_PORT: '0' });
      await create(await service.port(), { id: 1n, name: 'Monstera' });
      [, management = ''] = await service.waitForOutput(/metrics: (http:\/\/127\.0\.0\.1:\d+)/);
      metrics = await (await fetch(`${management}/metrics`)).text();
    });

    it('follow the conventions of Prometheus', function () {
      skipUnlessInstalled(this, 'promtool', '--version');
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: metrics });
      expect({ status, output: `${stdout}${stderr}` }).to.deep.equal({ status: 0, output: '' });
    });

    it('include every metric and label in a rule', () => {
      // Prometheus itself adds the metric `up` and the labels `job` and `instance`.
      const known = new Set(['up', ...rules.map(({ record }) => record)]);
      for (const { expr } of rules) {
        const selectors = [
          ...expr.matchAll(/\b((?:plant_store|process|instance_error:)\w*[\w:]*|up)\b(?:\{(.*?)\})?/g),
        ];
        expect(selectors, expr).not.to.have.length(0);
        for (const [, name = '', matchers = ''] of selectors) {
          if (known.has(name)) continue;
          const series = new RegExp(`^${name}(?:\\{(.*)\\})? `, 'm').exec(metrics);
          expect(series, name).not.to.equal(null);
          const labels = [...matchers.matchAll(/(\w+)[=!]/g)]
            .map(([, label]) => label)
            .filter((label) => label !== 'job');
          for (const label of labels) expect(series?.[1]).to.include(`${label}="`);
        }
      }
    });

    it('are exactly those in the table of the guide', () => {
      const [, table = ''] = /^## Metrics and alerts$([\s\S]*?)^## /m.exec(guide) ?? [];
      const named = [...table.matchAll(/`(plant_store_\w+)`(?=.*\|.*\|$)/gm)].map(([, name]) => name);
      const exported = [...metrics.matchAll(/^# TYPE (plant_store_\w+) /gm)].map(([, name]) => name);
      expect(named).to.have.members(exported);
    });

    it('pass the check in the guide', async function () {
      skipUnlessInstalled(this, 'curl', '--version');
      skipUnlessInstalled(this, 'promtool', '--version');
      const [check] = commandsUnder('Metrics and alerts');
      expect(await run(check, folder, { MANAGEMENT: management })).to.include('"status":"ready"');
    });
  });
});
