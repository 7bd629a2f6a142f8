import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { before, beforeEach, describe, it } from 'mocha';
import { parse } from 'yaml';
import { endProgramsAfterEach } from '../../support/executable.js';
import { needsProgram } from '../../support/needs.js';
import { inRepository } from '../../support/paths.js';
import { temporaryFolder } from '../../support/temporary.js';
import { create, serve } from '../../system/client.js';
import { commandsUnder, guide, run } from './guide.js';

/** What the file has of each rule, as far as these tests look. */
interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert?: string;
      readonly record?: string;
      readonly expr: string;
      readonly annotations?: Readonly<Record<string, string>>;
    }[];
  }[];
}

const ALERTS = inRepository('docs/operate/alerts.yml');

describe('The alerts of the guide', () => {
  const { groups }: Rules = parse(readFileSync(ALERTS, 'utf8'));
  const rules = groups.flatMap((group) => group.rules);
  const alerts = rules.filter(({ alert }) => alert !== undefined);

  it('each say what happened and what to do', () => {
    for (const { annotations } of alerts) expect(annotations).to.have.all.keys('summary', 'action');
  });

  it('each stand in the table of what to do when something is wrong', () => {
    const [, section = ''] = guide.split('## When something is wrong');
    for (const { alert } of alerts) expect(section).to.include(`\`${alert}\``);
  });

  describe('to promtool', () => {
    before(function () {
      needsProgram(this, 'promtool', '--version');
    });
    const promtool = (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
      expect(status, `${stdout}${stderr}`).to.equal(0);
    };

    it('are rules', () => promtool('check', 'rules', ALERTS));

    it('stand in the configuration of the guide, which is one', () => {
      promtool('check', 'config', inRepository('docs/operate/prometheus.yml'));
    });

    it('fire when they should, each one, and not when they should not', () => {
      promtool('test', 'rules', inRepository('test/docs/operate/alerts.test.yml'));
    });
  });

  describe('and what the service tells', () => {
    endProgramsAfterEach();
    const folder = temporaryFolder();
    let metrics: string;
    let management: string;
    beforeEach(async () => {
      const service = serve(folder, { DATABASE_URL: 'memory:', MANAGEMENT_PORT: '0' });
      await create(await service.port(), { id: 1n, name: 'Monstera' });
      [, management = ''] = await service.says(/metrics: (http:\/\/127\.0\.0\.1:\d+)/);
      metrics = await (await fetch(`${management}/metrics`)).text();
    });

    it('go together: every metric that an alert reads is there, with the labels that it reads', () => {
      // `up` is Prometheus' own; `job` and `instance` are what it adds.
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
          const labels = [...matchers.matchAll(/(\w+)[=!]/g)].map(([, label]) => label);
          for (const label of labels.filter((label) => label !== 'job')) expect(series?.[1]).to.include(`${label}="`);
        }
      }
    });

    it('go together with the table of the guide', () => {
      const [, table = ''] = /^## Metrics and alerts$([\s\S]*?)^## /m.exec(guide) ?? [];
      const named = [...table.matchAll(/`(plant_store_\w+)`(?=.*\|.*\|$)/gm)].map(([, name]) => name);
      const told = [...metrics.matchAll(/^# TYPE (plant_store_\w+) /gm)].map(([, name]) => name);
      expect(named).to.have.members(told);
    });

    it('is asked for by the commands of the guide', async function () {
      needsProgram(this, 'curl', '--version');
      needsProgram(this, 'promtool', '--version');
      const [ask] = commandsUnder('Metrics and alerts');
      expect(await run(ask, folder, { MANAGEMENT: management })).to.include('"status":"ready"');
    });
  });
});
