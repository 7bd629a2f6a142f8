import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import knexFactory, { type Knex } from 'knex';
import type { Context } from 'mocha';
import type { DatabaseServer } from './database-servers.js';
import { Program } from './executable.js';
import { needs } from './needs.js';

/** How long a server may take to come up, in milliseconds. */
const PATIENCE_MS = 60_000;

/** Debian keeps it where users do not look for programs. */
const MARIADBD = existsSync('/usr/sbin/mariadbd') ? '/usr/sbin/mariadbd' : 'mariadbd';

const isRoot = process.getuid?.() === 0;

/** How a server is made, started and asked. */
interface Kind {
  readonly name: string;
  readonly client: DatabaseServer['client'];
  /** The user that it runs as where this is root, whose rights it does not want. */
  readonly user: string;
  /** A database that is there from the beginning. */
  readonly database: string;
  readonly install: (folder: string) => Command;
  readonly run: (folder: string, port: number) => Command;
}
type Command = readonly [string, ...string[]];

const postgres: Kind = {
  name: 'PostgreSQL',
  client: 'pg',
  user: 'postgres',
  database: 'postgres',
  install: (folder) => [
    join(postgresPrograms(), 'initdb'),
    '--no-sync',
    '-U',
    'postgres',
    '-A',
    'trust',
    '-D',
    join(folder, 'data'),
  ],
  run: (folder, port) => {
    const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`];
    return [
      join(postgresPrograms(), 'postgres'),
      '-D',
      join(folder, 'data'),
      ...settings.flatMap((one) => ['-c', one]),
    ];
  },
};

const mariadb: Kind = {
  name: 'MariaDB',
  client: 'mysql2',
  user: 'mysql',
  database: 'test',
  install: (folder) => [
    'mariadb-install-db',
    '--no-defaults',
    '--auth-root-authentication-method=normal',
    `--datadir=${join(folder, 'data')}`,
  ],
  run: (folder, port) => [
    MARIADBD,
    '--no-defaults',
    `--datadir=${join(folder, 'data')}`,
    `--socket=${join(folder, 'socket')}`,
    `--pid-file=${join(folder, 'pid')}`,
    '--bind-address=127.0.0.1',
    `--port=${port}`,
  ],
};

/** The kinds of server of which a test can have one of its own. */
export const privateServers = { postgres, mariadb } as const;

/** A database server that a test may stop, kill and trace as it likes. */
export class PrivateServer {
  readonly #kind: Kind;
  readonly #folder: string;
  readonly #port: number;
  #program: Program | undefined;
  #isRunByAnother = false;

  private constructor(kind: Kind, folder: string, port: number) {
    this.#kind = kind;
    this.#folder = folder;
    this.#port = port;
  }

  /** Skips a test, by name, where the server cannot be run; where `CI=true` that is a failure. */
  static needed(context: Context, { install, run, name }: Kind): void {
    const programs = [install('')[0], run('', 0)[0], 'pgrep', ...(isRoot ? ['setpriv'] : [])];
    const missing = programs.filter((program) => spawnSync('which', [program]).status !== 0);
    needs(context, missing.length === 0, `the programs of a ${name} server: ${missing.join(', ')}`);
  }

  /** A new server, with nothing in it, that is not started. */
  static async install(kind: Kind, folder: string): Promise<PrivateServer> {
    const own = join(folder, kind.name);
    mkdirSync(own);
    if (isRoot) {
      const id = (option: string) => Number(spawnSync('id', [option, kind.user]).stdout.toString());
      chmodSync(folder, 0o755);
      chownSync(own, id('-u'), id('-g'));
    }
    const server = new PrivateServer(kind, own, await freePort());
    const run = server.#runAsItsUser(kind.install(own));
    if ((await run.exited()) !== 0) throw new Error(`there is no ${kind.name}: ${run.stdout}${run.stderr}`);
    return server;
  }

  /** Where it is, as other tests know servers. */
  get server(): DatabaseServer {
    const { name, client, user, database } = this.#kind;
    const scheme = client === 'pg' ? `postgres://${user}` : 'mysql://root';
    return { name, client, url: `${scheme}@127.0.0.1:${this.#port}/${database}` };
  }

  /**
   * Starts it, and waits until it answers.
   *
   * @param settings as on its command line
   * @param command what runs it, such as `strace …`
   */
  async start(settings: readonly string[] = [], command: readonly string[] = []): Promise<void> {
    const program = this.#runAsItsUser([...this.#kind.run(this.#folder, this.#port), ...settings], command);
    this.#program = program;
    this.#isRunByAnother = command.length > 0;
    const deadline = performance.now() + PATIENCE_MS;
    const knex = this.connect();
    while (!(await isAnswering(knex))) {
      const { exitCode, signalCode } = program.process;
      const isLate = performance.now() > deadline;
      if (isLate || exitCode !== null || signalCode !== null) throw new Error(`it does not start: ${program.stderr}`);
      await setTimeout(50);
    }
    await knex.destroy();
  }

  /** A connection to its database; the caller destroys it. */
  connect(): Knex {
    const { url, client } = this.server;
    return knexFactory({ client, log: { warn() {}, error() {} }, connection: url, pool: { min: 0, max: 1 } });
  }

  /** Signals it with all of its processes: those of PostgreSQL lead groups of their own. */
  signal(signal: NodeJS.Signals): void {
    const pid = this.#program?.process.pid;
    for (const one of pid === undefined ? [] : [pid, ...childrenOf(pid)]) signalIfThere(one, signal);
  }

  /** Ends it in good order, when nobody is connected to it any more; what runs it, too. */
  async stop(): Promise<void> {
    const pid = this.#program?.process.pid;
    if (pid === undefined) return;
    for (const one of this.#isRunByAnother ? childrenOf(pid) : [pid]) signalIfThere(one, 'SIGTERM');
    await this.#program?.exited();
  }

  /** Ends it without a warning. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.#program?.exited();
  }

  #runAsItsUser(command: Command, before: readonly string[] = []): Program {
    const { user } = this.#kind;
    const asUser = isRoot ? ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups', '--'] : [];
    const [program = '', ...args] = [...before, ...asUser, ...command];
    return new Program(this.#folder, [program, ...args], {});
  }
}

function childrenOf(pid: number): number[] {
  const children = spawnSync('pgrep', ['-P', `${pid}`]).stdout.toString();
  return children.split('\n').filter(Boolean).map(Number);
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}

async function isAnswering(knex: Knex): Promise<boolean> {
  return knex.raw('SELECT 1').then(
    () => true,
    () => false,
  );
}

/** Debian keeps them where users do not look for programs. */
function postgresPrograms(): string {
  return spawnSync('pg_config', ['--bindir']).stdout?.toString().trim() ?? '';
}

/** A port of this machine that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await once(server.close(), 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}
