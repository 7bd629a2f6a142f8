import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { inRepository } from '../../support/paths.js';
import { generator } from './closed-loop.js';
import { mariadb, postgres, sqlite } from './stores.js';

/** Names and values that describe the machine without identifying it. */
export type Machine = Readonly<Record<string, string>>;

/** Describes this machine. `folder` contains the stores. */
export async function describeMachine(folder: string): Promise<Machine> {
  const processors = cpus();
  const engines = await Promise.all(
    [sqlite, postgres, mariadb].map(async (engine) =>
      (await engine.isAvailable()) ? [[engine.name, await engine.version()] as const] : [],
    ),
  );
  return {
    processor: `${processors[0]?.model.trim()}, ${processors.length} cores${isVirtual() ? ', virtual' : ''}`,
    memory: `${Math.round(totalmem() / 1024 ** 3)} GiB`,
    'file system': detectFileSystem(folder),
    kernel: `Linux ${release().split('-')[0]}`,
    Node: process.version,
    ...Object.fromEntries(engines.flat()),
    [generator.name]: generator.version,
    'sqlite3 (command line)': readOutput('sqlite3', '--version').split(' ')[0] ?? '',
    'the other programs': readPeerVersions(),
  };
}

/** Returns the versions of the peers' dependencies in their lock file. */
function readPeerVersions(): string {
  const { packages }: { packages: Record<string, { version?: string; dependencies?: Record<string, string> }> } =
    JSON.parse(readFileSync(inRepository('test/bench/peers/package-lock.json'), 'utf8'));
  const names = Object.keys(packages['']?.dependencies ?? {}).filter((name) => name !== 'autocannon');
  return names.map((name) => `${name} ${packages[`node_modules/${name}`]?.version}`).join(', ');
}

/** Returns the type of the file system of `folder`, such as ext4. */
export function detectFileSystem(folder: string): string {
  return readOutput('df', '--output=fstype', folder).split('\n')[1] ?? '';
}

function isVirtual(): boolean {
  return /^Hypervisor vendor/m.test(readOutput('lscpu'));
}

function readOutput(program: string, ...args: readonly string[]): string {
  return spawnSync(program, args, { encoding: 'utf8' }).stdout?.trim() ?? '';
}
