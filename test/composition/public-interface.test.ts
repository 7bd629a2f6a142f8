import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { type Engine, mysql, postgres, sqlite } from '../../adapters/driven/knex/index.js';
import { MemoryPlantRepository } from '../../adapters/driven/memory/index.js';
import { Metrics } from '../../adapters/driven/metrics/index.js';
import { apiErrors, openApiDescription } from '../../adapters/driving/api/index.js';
import { commands } from '../../composition/cli/commands.js';
import { settings } from '../../composition/config.js';
import { CreatePlant } from '../../core/index.js';
import { httpContract } from '../contract/http/index.js';
import { plantRepositoryContract, tokenVerifierContract } from '../contract/index.js';
import { inRepository } from '../support/paths.js';
import { expectSnapshot } from '../support/snapshot.js';

type Lines = readonly string[];

describe('The public interface', () => {
  it('matches the accepted snapshot', async () => {
    const { exports } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8'));
    const sections: Readonly<Record<string, Lines>> = {
      'Entry points': Object.keys(exports)
        .filter((path) => path !== '.')
        .map((path) => path.replace('.', 'plant-store')),
      [`HTTP operations, version ${description().info.version}`]: operations(),
      'HTTP schemas': schemas(),
      'Error numbers': Object.entries(apiErrors).map(([name, { error }]) => `${error} ${name}`),
      Commands: [...commands.entries()].map(([name, { usage }]) => `${name}: plant-store ${name} ${usage}`),
      Settings: Object.values(settings).map(settingLine),
      Metrics: await metricLines(),
      'SQLite schema': schema(sqlite),
      'PostgreSQL schema': schema(postgres),
      'MySQL and MariaDB schema': schema(mysql),
      ...contractCases(),
    };
    const text = Object.entries(sections).map(([title, lines]) => [`${title}:`, ...lines].join('\n  '));
    expect(text.filter((section) => !section.includes('\n'))).to.deep.equal([]);
    expectSnapshot('docs/api/interface.txt', `${text.join('\n\n')}\n`);
  });
});

function settingLine(setting: (typeof settings)[keyof typeof settings]): string {
  const flag = 'flag' in setting ? '' : `, --${setting.variable.toLowerCase().replaceAll('_', '-')}`;
  return `${setting.variable}${flag}: ${setting.allowed}; by default ${setting.default ?? 'none'}`;
}

/** Lists each operation with its responses and their headers. */
function operations(): Lines {
  const { paths } = description();
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      Object.entries(responses).map(
        ([status, { headers = {} }]) =>
          `${method.toUpperCase()} ${path} ${status}: ${Object.keys(headers).join(', ') || 'no header'}`,
      ),
    ),
  );
}

/** Lists each schema without descriptions, examples and titles. */
function schemas(): Lines {
  const texts = ['description', 'example', 'examples', 'title'];
  const replacer = (key: string, value: unknown) => (texts.includes(key) ? undefined : value);
  return Object.entries(description().components.schemas).map(
    ([name, definition]) => `${name}: ${JSON.stringify(definition, replacer)}`,
  );
}

interface Description {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}
interface Operation {
  readonly responses: Readonly<Record<string, { readonly headers?: object }>>;
}

function description(): Description {
  return JSON.parse(JSON.stringify(openApiDescription));
}

/** Lists the service's metrics with their types and labels, after calls that count each of them. */
async function metricLines(): Promise<Lines> {
  const metrics = new Metrics('0.0.0');
  metrics.observe('load', { inFlight: 0, inFlightBytes: 0, limits: { maxInFlight: 0, maxInFlightBytes: 0 } });
  metrics.observe('server', { connections: 0 });
  metrics.observe('log', { droppedLines: 0 });
  metrics.observe('pool', { inUse: 0, pending: 0, max: 0 });
  metrics.observe('files', { sizeBytes: 0, logSizeBytes: 0 });
  metrics.observe('jwtKeys', { ageMs: 0, fetchFailures: 0 });
  metrics.observe('tokensFile', { isValid: true, loadedAtMs: 0 });
  metrics.onRequestEnd({ method: 'POST', route: '/plants', status: 200, durationMs: 1 });
  const storage = new MemoryPlantRepository();
  const createPlant = new CreatePlant(metrics.instrument(storage));
  await createPlant.execute({ id: 1n, name: 'Monstera' });
  await storage.close();
  await createPlant.execute({ id: 2n, name: 'Ficus' }).catch(() => {});
  const text = await metrics.text();
  return [...text.matchAll(/^# TYPE (plant_store_\S+) (\S+)$/gm)].map(([, name, type]) => {
    const sample = RegExp(`^${name}(?:_sum)?\\{(.*)\\} `, 'm').exec(text)?.[1] ?? '';
    return [name, type, ...[...sample.matchAll(/(\w+)="/g)].map(([, label]) => label)].join(' ');
  });
}

/** Lists the migrations and their statements. */
function schema({ migrations }: Engine): Lines {
  return [
    ...Object.keys(migrations),
    ...Object.values(migrations)
      .flat()
      .map((sql) => sql.replaceAll(/\s+/g, ' ')),
  ];
}

/** Lists the cases of each contract. */
function contractCases(): Readonly<Record<string, Lines>> {
  const unused = () => Promise.reject(new Error('no case runs'));
  const repository = { open: unused, reopen: unused, openAnother: unused, whileUnavailable: unused };
  const token = { expiredToken: unused, foreignToken: unused, withIssuerUnavailable: unused };
  const contracts = {
    plantRepositoryContract: plantRepositoryContract({
      ...repository,
      rejectedPlant: () => {
        throw new Error('no case runs');
      },
    }).cases,
    tokenVerifierContract: tokenVerifierContract({ create: unused, validToken: '', ...token }).cases,
    httpContract,
  };
  return Object.fromEntries(Object.entries(contracts).map(([name, cases]) => [name, cases.map((each) => each.name)]));
}
