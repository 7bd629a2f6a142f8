import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Knex } from 'knex';
import type { Context } from 'mocha';
import { connectTo, type DatabaseServer, isAvailable } from '../support/database-servers.js';
import { Program } from '../support/executable.js';
import { freePort } from '../support/port.js';
import { skipUnless } from '../support/skip-unless.js';
import { waitUntil } from '../support/wait-until.js';

// Debian installs the programs of servers outside the PATH of ordinary users.
const postgresFolder = `${spawnSync('pg_config', ['--bindir']).stdout}`.trim();
process.env['PATH'] = `${process.env['PATH']}:/usr/sbin:${postgresFolder}`;

type Command = readonly [string, ...string[]];

/** How to install, start and connect to a server. Its `url` lacks the port. */
export interface Kind extends DatabaseServer {
  /** The user that runs the server if this process is root, because database servers refuse to run as root. */
  readonly user: string;
  install(folder: string): Command;
  run(folder: string, port: number): Command;
}

const postgres: Kind = {
  name: 'PostgreSQL',
  client: 'pg',
  user: 'postgres',
  url: 'postgres://postgres@127.0.0.1/postgres',
  install: (folder) => ['initdb', '--no-sync', '-U', 'postgres', '-A', 'trust', '-D', join(folder, 'data')],
  run: (folder, port) => {
    const settings = [`--port=${port}`, '--listen_addresses=127.0.0.1', `--unix_socket_directories=${folder}`];
    return ['postgres', '-D', join(folder, 'data'), ...settings];
  },
};

const mariadb: Kind = {
  name: 'MariaDB',
  client: 'mysql2',
  user: 'mysql',
  url: 'mysql://root@127.0.0.1/test',
  install: (folder) => {
    const options = ['--auth-root-authentication-method=normal', `--datadir=${join(folder, 'data')}`];
    // A server that starts deletes the temporary tables of others.
    return ['mariadb-install-db', '--no-defaults', ...options, `--tmpdir=${folder}`];
  },
  run: (folder, port) => {
    const paths = Object.entries({ datadir: 'data', socket: 'socket', 'pid-file': 'pid', tmpdir: '' });
    const options = paths.map(([option, name]) => `--${option}=${join(folder, name)}`);
    return ['mariadbd', '--no-defaults', ...options, '--bind-address=127.0.0.1', `--port=${port}`];
  },
};

/** The servers that a test can install for itself. */
export const privateServers = { postgres, mariadb } as const;

/** Selects connections that wait for a standby (https://www.postgresql.org/docs/current/monitoring-stats.html). */
export const WAITING: string = "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND backend_type = 'client backend'";

/** Returns a PostgreSQL server that starts as a copy of the primary and follows it. */
export function postgresStandby(primaryUrl: string, name: string): Kind {
  const options = [`--dbname=${primaryUrl}`, '--checkpoint=fast', '--no-sync', '--write-recovery-conf'];
  return { ...postgres, name, install: (folder) => ['pg_basebackup', `--pgdata=${join(folder, 'data')}`, ...options] };
}

/** A database server of one test, which may kill it. */
export class PrivateServer {
  readonly url: string;
  readonly #kind: Kind;
  readonly #folder: string;
  readonly #port: number;
  program: Program | undefined;

  private constructor(kind: Kind, folder: string, port: number) {
    this.url = Object.assign(new URL(kind.url), { port }).href;
    this.#kind = kind;
    this.#folder = folder;
    this.#port = port;
  }

  /** Skips a test if the server is not installed. Throws instead if `CI=true`. */
  static skipUnlessAvailable(context: Context, { install, run, name }: Kind): void {
    const programs = [install('')[0], run('', 0)[0], 'pgrep', 'setpriv'];
    const areInstalled = spawnSync('which', programs).status === 0;
    skipUnless(context, areInstalled, `a program of a ${name} server: ${programs.join(', ')}`);
  }

  /** Installs an empty server without starting it. @param port By default, a free one. */
  static async install(kind: Kind, folder: string, port?: number): Promise<PrivateServer> {
    const serverFolder = mkdtempSync(join(folder, `${kind.name}-`));
    chmodSync(folder, 0o755);
    spawnSync('chown', [`${kind.user}:`, serverFolder]);
    const server = new PrivateServer(kind, serverFolder, port ?? (await freePort()));
    const { exitCode, stdout, stderr } = await server.#runAsServerUser(kind.install(serverFolder)).result();
    if (exitCode !== 0) throw new Error(`cannot install ${kind.name}: ${stdout}${stderr}`);
    return server;
  }

  /** Starts the server with command-line options. The wrapper, such as `ip netns exec NAME`, runs it. */
  run(options: readonly string[] = [], wrapper: readonly string[] = []): Program {
    this.program = this.#runAsServerUser([...this.#kind.run(this.#folder, this.#port), ...options], wrapper);
    return this.program;
  }

  /** Starts the server, unless it runs, and waits until it responds. */
  async start(options: readonly string[] = []): Promise<void> {
    if (this.program?.isRunning) return;
    const program = this.run(options);
    const knex = this.connect();
    await waitUntil(`${this.#kind.name} responds`, async () => {
      if (!program.isRunning) throw new Error(`the server does not start: ${program.stderr}`);
      return isAvailable(knex);
    });
    await knex.destroy();
  }

  /** Connects to its database. The caller destroys the connection. */
  connect(): Knex {
    return connectTo({ ...this.#kind, url: this.url });
  }

  /** Waits until a query returns a row. */
  async waitForRow(query: string): Promise<void> {
    const knex = this.connect();
    const hasRow = async () => (await knex.raw(query)).rows.length > 0;
    await waitUntil(query, hasRow).finally(() => knex.destroy());
  }

  /** Kills the server and each child process, because PostgreSQL's children lead their own process groups. */
  async kill(): Promise<void> {
    if (!this.program?.isRunning) return;
    spawnSync('sh', ['-c', 'kill -KILL $1 $(pgrep -P $1)', 'sh', `${this.program.process.pid}`]);
    await this.program.exited();
  }

  #runAsServerUser(command: Command, wrapper: readonly string[] = []): Program {
    const { user } = this.#kind;
    const asUser = ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups', '--'];
    const [program = '', ...args] = [...wrapper, ...(process.getuid?.() === 0 ? asUser : []), ...command];
    return new Program(this.#folder, [program, ...args]);
  }
}
