import { expect } from 'chai';
import { it } from 'mocha';
import { type Engine, mysql, postgres, sqlite } from '../../adapters/driven/knex/index.js';
import { MemoryPlantRepository } from '../../adapters/driven/memory/index.js';
import { Metrics } from '../../adapters/driven/metrics/index.js';
import { createProgram } from '../../composition/cli/program.js';
import { type Setting, settings } from '../../composition/config.js';
import { CreatePlant } from '../../core/index.js';
import { httpContract } from '../contract/http/index.js';
import { plantRepositoryContract, tokenVerifierContract } from '../contract/index.js';
import { expectSnapshot } from '../support/snapshot.js';

type Lines = readonly string[];

it('The public interface matches the accepted snapshot', async () => {
  const { commands } = createProgram(() => {});
  const sections: Readonly<Record<string, Lines>> = {
    Commands: commands.map((each) => `${each.name()}: plant-store ${each.name()} ${each.usage()}`),
    Settings: Object.values(settings).map(settingLine),
    Metrics: await metricLines(),
    'SQLite schema': schema(sqlite),
    'PostgreSQL schema': schema(postgres),
    'MySQL and MariaDB schema': schema(mysql),
    ...contractCases(),
  };
  const text = Object.entries(sections).map(([title, lines]) => [`${title}:`, ...lines].join('\n  '));
  expectSnapshot('test/composition/interface.txt', `${text.join('\n\n')}\n`);
});

function settingLine({ variable, allowed, flag, default: value }: Setting): string {
  const syntax = flag === false ? '' : `, --${variable.toLowerCase().replaceAll('_', '-')}`;
  return `${variable}${syntax}: ${allowed}; by default ${value ?? 'none'}`;
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
  const statements = Object.values(migrations).flat();
  return [...Object.keys(migrations), ...statements.map((sql) => sql.replaceAll(/\s+/g, ' '))];
}

/** Lists the cases of each contract. */
function contractCases(): Readonly<Record<string, Lines>> {
  const unused = () => expect.fail('no case runs');
  const members = { reopen: unused, openAnother: unused, whileUnavailable: unused, rejectedPlant: unused };
  const tokens = { validToken: '', expiredToken: unused, foreignToken: unused, withIssuerUnavailable: unused };
  const contracts = {
    plantRepositoryContract: plantRepositoryContract({ open: unused, ...members }).cases,
    tokenVerifierContract: tokenVerifierContract({ create: unused, ...tokens }).cases,
    httpContract,
  };
  return Object.fromEntries(Object.entries(contracts).map(([name, cases]) => [name, cases.map((each) => each.name)]));
}
