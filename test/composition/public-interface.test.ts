import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import knexFactory, { type Knex } from 'knex';
import { describe, it } from 'mocha';
import { type Engine, mysql, postgres, sqlite } from '../../adapters/knex/index.js';
import { migrationNames } from '../../adapters/knex/migrations.js';
import { Metrics } from '../../adapters/management/index.js';
import { MemoryPlantRepository } from '../../adapters/memory/index.js';
import { loadDescription, rejections } from '../../adapters/wire/index.js';
import { commands } from '../../composition/commands/index.js';
import { settings } from '../../composition/config.js';
import { CreatePlant } from '../../core/index.js';
import * as contract from '../contract/index.js';
import { expectAccepted } from '../support/accepted.js';
import { inRepository } from '../support/paths.js';

type Lines = readonly string[];

describe('The public interface', () => {
  it('is the one that was accepted', async () => {
    const { exports } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8'));
    const sections: Readonly<Record<string, Lines>> = {
      'Entry points': Object.keys(exports).map((path) => path.replace('.', 'plant-store')),
      [`HTTP operations, version ${description().info.version}`]: operations(),
      'HTTP schemas': schemas(),
      'Error numbers': Object.entries(rejections).map(([name, { error }]) => `${error} ${name}`),
      Commands: [...commands.entries()].map(([name, { usage }]) => `${name}: plant-store ${usage}`),
      Settings: Object.values(settings).map(settingLine),
      Metrics: await metrics(),
      'SQLite schema': await schema(sqlite),
      'PostgreSQL schema': await schema(postgres),
      'MySQL and MariaDB schema': await schema(mysql),
      ...contractCases(),
    };
    const text = Object.entries(sections).map(([title, lines]) => [`${title}:`, ...lines].join('\n  '));
    expect(text.filter((section) => !section.includes('\n'))).to.deep.equal([]);
    expectAccepted('docs/api/interface.txt', `${text.join('\n\n')}\n`);
  });
});

function settingLine(setting: (typeof settings)[keyof typeof settings]): string {
  const flag = 'flag' in setting ? '' : `, --${setting.variable.toLowerCase().replaceAll('_', '-')}`;
  return `${setting.variable}${flag}: ${setting.allowed}; by default ${setting.default ?? 'none'}`;
}

/** Each operation with its answers and their headers. */
function operations(): Lines {
  const { paths } = description();
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { responses }]) =>
      Object.entries(responses).map(
        ([status, { headers = {} }]) =>
          `${method.toUpperCase()} ${path} ${status}: ${Object.keys(headers).join(', ') || 'no header'}`,
      ),
    ),
  );
}

/** Each schema without its words for people. */
function schemas(): Lines {
  const words = ['description', 'example', 'examples', 'title'];
  const replacer = (key: string, value: unknown) => (words.includes(key) ? undefined : value);
  return Object.entries(description().components.schemas).map(
    ([name, schema]) => `${name}: ${JSON.stringify(schema, replacer)}`,
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
  return JSON.parse(JSON.stringify(loadDescription()));
}

/** Each metric of ours with its type and labels, once there is something to count. */
async function metrics(): Promise<Lines> {
  const made = new Metrics('0.0.0');
  made.watch({ pending: 0, pendingBytes: 0, limits: { maxPending: 0, maxPendingBytes: 0 } });
  made.onAnswered({ method: 'POST', route: '/plants', status: 200, durationMs: 1 });
  const plants = made.observed(new MemoryPlantRepository());
  await new CreatePlant(plants).execute({ id: 1n, name: 'Monstera' });
  await plants.close();
  await plants.ready().catch(() => {});
  const { body } = await made.text();
  return [...body.matchAll(/^# TYPE (plant_store_\S+) (\S+)$/gm)].map(([, name, type]) => {
    const sample = RegExp(`^${name}(?:_sum)?\\{(.*)\\} `, 'm').exec(body)?.[1] ?? '';
    return [name, type, ...[...sample.matchAll(/(\w+)="/g)].map(([, label]) => label)].join(' ');
  });
}

/** The migrations, and what they run on a new database. */
async function schema(engine: Engine): Promise<Lines> {
  const statements: string[] = [];
  const knex = knexFactory({ client: recording(statements) });
  await engine.createTable(knex);
  await knex.destroy();
  return [...migrationNames(engine), ...statements.map((sql) => sql.replaceAll(/\s+/g, ' '))];
}

/** A database that does nothing but take down what it is told. */
function recording(statements: string[]): typeof Knex.Client {
  return class extends knexFactory.Client {
    override acquireConnection = async () => ({});
    override releaseConnection = async () => {};
    override query = async (_: unknown, { sql }: { readonly sql: string }) => statements.push(sql);
    processResponse = () => [];
  };
}

/** The promises of each contract. */
function contractCases(): Readonly<Record<string, Lines>> {
  return Object.fromEntries(
    Object.entries(contract).flatMap(([name, cases]) =>
      Array.isArray(cases) ? [[name, cases.map((promise) => promise.name)]] : [],
    ),
  );
}
