import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { inRepository } from '../../support/paths.js';
import { mariadb, postgres, sqlite } from './stores.js';

const readOutput = (program: string, ...args: readonly string[]) =>
  spawnSync(program, args, { encoding: 'utf8' }).stdout?.trim() ?? '';

/** Describes this machine without identifying it. `folder` contains the stores. */
export async function describeMachine(folder: string): Promise<Readonly<Record<string, string>>> {
  const processors = cpus();
  const virtual = /^Hypervisor vendor/m.test(readOutput('lscpu')) ? ', virtual' : '';
  return {
    processor: `${processors[0]?.model.trim()}, ${processors.length} cores${virtual}`,
    memory: `${Math.round(totalmem() / 1024 ** 3)} GiB`,
    'file system': readOutput('df', '--output=fstype', folder).split('\n')[1] ?? '',
    kernel: `Linux ${release().split('-')[0]}`,
    Node: process.version,
    SQLite: await sqlite.version(),
    PostgreSQL: await postgres.version(),
    MariaDB: await mariadb.version(),
    wrk: readOutput('wrk', '-v').split(' ')[1] ?? '',
    'sqlite3 (command line)': readOutput('sqlite3', '--version').split(' ')[0] ?? '',
    'the other programs': readPeerVersions(),
  };
}

/** Returns the versions of the peers' dependencies in their lock file. */
function readPeerVersions(): string {
  const { packages } = JSON.parse(readFileSync(inRepository('test/bench/peers/package-lock.json'), 'utf8'));
  return Object.keys(packages[''].dependencies)
    .map((name) => `${name} ${packages[`node_modules/${name}`].version}`)
    .join(', ');
}
