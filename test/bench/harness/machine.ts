import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { inRepository } from '../../support/paths.js';
import { generator } from './closed-loop.js';
import { mariadb, postgres, sqlite } from './stores.js';

/** What the figures were measured on, as name and value; nothing that tells whose machine it is. */
export type Machine = Readonly<Record<string, string>>;

/** @param folder where the stores are */
export async function machine(folder: string): Promise<Machine> {
  const processors = cpus();
  const engines = await Promise.all(
    [sqlite, postgres, mariadb].map(async (engine) =>
      (await engine.isThere()) ? [[engine.name, await engine.version()] as const] : [],
    ),
  );
  return {
    processor: `${processors[0]?.model.trim()}, ${processors.length} cores${isVirtual() ? ', virtual' : ''}`,
    memory: `${Math.round(totalmem() / 1024 ** 3)} GiB`,
    'file system': fileSystemOf(folder),
    kernel: `Linux ${release().split('-')[0]}`,
    Node: process.version,
    ...Object.fromEntries(engines.flat()),
    [generator.name]: generator.version,
    'sqlite3 (command line)': output('sqlite3', '--version').split(' ')[0] ?? '',
    'the other programs': peerVersions(),
  };
}

/** What the peers are made of, as their lock file has it. */
function peerVersions(): string {
  const { packages }: { packages: Record<string, { version?: string; dependencies?: Record<string, string> }> } =
    JSON.parse(readFileSync(inRepository('test/bench/peers/package-lock.json'), 'utf8'));
  const names = Object.keys(packages['']?.dependencies ?? {}).filter((name) => name !== 'autocannon');
  return names.map((name) => `${name} ${packages[`node_modules/${name}`]?.version}`).join(', ');
}

/** The kind of file system that `folder` is on, such as ext4. */
export function fileSystemOf(folder: string): string {
  return output('df', '--output=fstype', folder).split('\n')[1] ?? '';
}

function isVirtual(): boolean {
  return /^Hypervisor vendor/m.test(output('lscpu'));
}

function output(program: string, ...args: readonly string[]): string {
  return spawnSync(program, args, { encoding: 'utf8' }).stdout?.trim() ?? '';
}
