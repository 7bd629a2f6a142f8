import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import knexFactory, { type Knex } from 'knex';
import type { Context } from 'mocha';
import type { DatabaseServer } from './database-servers.js';
import { Program } from './executable.js';
import { freePort } from './port.js';
import { skipUnless } from './skip-unless.js';

const START_TIMEOUT_MS = 60_000;

/** The server program, which Debian installs outside the PATH of ordinary users. */
const MARIADBD = existsSync('/usr/sbin/mariadbd') ? '/usr/sbin/mariadbd' : 'mariadbd';

const isRoot = process.getuid?.() === 0;

/** How to install, start and connect to a server. */
interface Kind {
  readonly name: string;
  readonly client: DatabaseServer['client'];
  /** The user that runs the server if this process is root, because database servers refuse to run as root. */
  readonly user: string;
  /** An initial database. */
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
      ...settings.flatMap((setting) => ['-c', setting]),
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

/** The servers that a test can install for itself. */
export const privateServers = { postgres, mariadb } as const;

/** Returns a PostgreSQL server that starts as a copy of the primary and follows it. */
export function postgresStandby(primaryUrl: string, name: string): Kind {
  const backUp = join(postgresPrograms(), 'pg_basebackup');
  const install = (folder: string): Command => [
    backUp,
    `--dbname=${primaryUrl}`,
    `--pgdata=${join(folder, 'data')}`,
    '--checkpoint=fast',
    '--no-sync',
    '--write-recovery-conf',
  ];
  return { ...postgres, name, install };
}

/** A database server of one test, which may stop, kill and trace it. */
export class PrivateServer {
  readonly #kind: Kind;
  readonly #folder: string;
  readonly #port: number;
  #program: Program | undefined;
  #isWrapped = false;

  private constructor(kind: Kind, folder: string, port: number) {
    this.#kind = kind;
    this.#folder = folder;
    this.#port = port;
  }

  /** Skips a test if the server is not installed. Throws instead if `CI=true`. */
  static skipUnlessAvailable(context: Context, { install, run, name }: Kind): void {
    const programs = [install('')[0], run('', 0)[0], 'pgrep', ...(isRoot ? ['setpriv'] : [])];
    const missing = programs.filter((program) => spawnSync('which', [program]).status !== 0);
    skipUnless(context, missing.length === 0, `the programs of a ${name} server: ${missing.join(', ')}`);
  }

  /** Installs an empty server without starting it. */
  static async install(kind: Kind, folder: string): Promise<PrivateServer> {
    const serverFolder = join(folder, kind.name);
    mkdirSync(serverFolder);
    if (isRoot) {
      const id = (option: string) => Number(spawnSync('id', [option, kind.user]).stdout.toString());
      chmodSync(folder, 0o755);
      chownSync(serverFolder, id('-u'), id('-g'));
    }
    const server = new PrivateServer(kind, serverFolder, await freePort());
    const run = server.#runAsServerUser(kind.install(serverFolder));
    if ((await run.exited()) !== 0) throw new Error(`cannot install ${kind.name}: ${run.stdout}${run.stderr}`);
    return server;
  }

  /** How to connect to the server. */
  get server(): DatabaseServer {
    const { name, client, user, database } = this.#kind;
    const scheme = client === 'pg' ? `postgres://${user}` : 'mysql://root';
    return { name, client, url: `${scheme}@127.0.0.1:${this.#port}/${database}` };
  }

  /**
   * Starts the server and waits until it responds.
   *
   * @param settings command-line options
   * @param command wrapper that runs the server, such as `strace …`
   */
  async start(settings: readonly string[] = [], command: readonly string[] = []): Promise<void> {
    const program = this.#runAsServerUser([...this.#kind.run(this.#folder, this.#port), ...settings], command);
    this.#program = program;
    this.#isWrapped = command.length > 0;
    const deadline = performance.now() + START_TIMEOUT_MS;
    const knex = this.connect();
    while (!(await isResponding(knex))) {
      const { exitCode, signalCode } = program.process;
      const isLate = performance.now() > deadline;
      if (isLate || exitCode !== null || signalCode !== null)
        throw new Error(`the server does not start: ${program.stderr}`);
      await setTimeout(50);
    }
    await knex.destroy();
  }

  /** Connects to its database. The caller destroys the connection. */
  connect(): Knex {
    const { url, client } = this.server;
    return knexFactory({ client, log: { warn() {}, error() {} }, connection: url, pool: { min: 0, max: 1 } });
  }

  /** Signals the server and each child process, because PostgreSQL's children lead their own process groups. */
  signal(signal: NodeJS.Signals): void {
    for (const pid of this.pids) signalIfRunning(pid, signal);
  }

  /** Process ids of the server and its children. */
  get pids(): readonly number[] {
    const pid = this.#program?.process.pid;
    return pid === undefined ? [] : [pid, ...findChildren(pid)];
  }

  /** Shuts down the server and its wrapper. PostgreSQL first waits until every client has disconnected. */
  async stop(): Promise<void> {
    const pid = this.#program?.process.pid;
    if (pid === undefined) return;
    for (const one of this.#isWrapped ? findChildren(pid) : [pid]) signalIfRunning(one, 'SIGTERM');
    await this.#program?.exited();
  }

  /** Kills the server. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.#program?.exited();
  }

  #runAsServerUser(command: Command, before: readonly string[] = []): Program {
    const { user } = this.#kind;
    const asUser = isRoot ? ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups', '--'] : [];
    const [program = '', ...args] = [...before, ...asUser, ...command];
    return new Program(this.#folder, [program, ...args], {});
  }
}

function findChildren(pid: number): number[] {
  const children = spawnSync('pgrep', ['-P', `${pid}`]).stdout.toString();
  return children.split('\n').filter(Boolean).map(Number);
}

function signalIfRunning(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has exited already.
  }
}

async function isResponding(knex: Knex): Promise<boolean> {
  return knex.raw('SELECT 1').then(
    () => true,
    () => false,
  );
}

/** Returns the folder of PostgreSQL's programs, which Debian installs outside the PATH. */
function postgresPrograms(): string {
  return spawnSync('pg_config', ['--bindir']).stdout?.toString().trim() ?? '';
}
