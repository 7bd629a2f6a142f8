import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Knex } from 'knex';
import type { Context } from 'mocha';
import { connectTo, isAvailable } from '../support/database-servers.js';
import { Program } from '../support/executable.js';
import { freePort } from '../support/port.js';
import { skipUnless } from '../support/skip-unless.js';
import { waitUntil } from '../support/wait-until.js';

// Debian installs the programs of servers outside the PATH of ordinary users.
const postgresFolder = `${spawnSync('pg_config', ['--bindir']).stdout}`.trim();
process.env['PATH'] = `${process.env['PATH']}:/usr/sbin:${postgresFolder}`;

type Kind = (typeof privateServers)['postgres' | 'mariadb'];

/** The servers that a test can install for itself. Each runs as its own user, because it refuses to run as root. */
export const privateServers = {
  postgres: {
    name: 'PostgreSQL',
    client: 'pg',
    url: 'postgres://postgres@127.0.0.1/postgres',
    user: 'postgres',
    programs: ['initdb', 'postgres'],
    install: (folder: string) => ['initdb', '--no-sync', '-U', 'postgres', '-A', 'trust', '-D', join(folder, 'data')],
    run: (folder: string, port: string) => {
      const settings = [`--port=${port}`, '--listen_addresses=127.0.0.1', `--unix_socket_directories=${folder}`];
      return ['postgres', '-D', join(folder, 'data'), ...settings];
    },
  },
  mariadb: {
    name: 'MariaDB',
    client: 'mysql2',
    url: 'mysql://root@127.0.0.1/test',
    user: 'mysql',
    programs: ['mariadb-install-db', 'mariadbd'],
    install: (folder: string) => {
      const options = ['--auth-root-authentication-method=normal', `--datadir=${join(folder, 'data')}`];
      // A server that starts deletes the temporary tables of others.
      return ['mariadb-install-db', '--no-defaults', ...options, `--tmpdir=${folder}`];
    },
    run: (folder: string, port: string) => {
      const paths = Object.entries({ datadir: 'data', socket: 'socket', 'pid-file': 'pid', tmpdir: '' });
      const options = paths.map(([option, name]) => `--${option}=${join(folder, name)}`);
      return ['mariadbd', '--no-defaults', ...options, '--bind-address=127.0.0.1', `--port=${port}`];
    },
  },
} as const;

/** A database server of one test, which may kill it. */
export class PrivateServer {
  readonly url: string;
  readonly #kind: Kind;
  readonly #folder: string;
  #program: Program | undefined;

  private constructor(kind: Kind, folder: string, port: number) {
    this.url = Object.assign(new URL(kind.url), { port }).href;
    this.#kind = kind;
    this.#folder = folder;
  }

  /** Skips a test if the server is not installed. Throws instead if `CI=true`. */
  static skipUnlessAvailable(context: Context, { programs, name }: Kind): void {
    const all = [...programs, 'pgrep', 'setpriv'];
    skipUnless(context, spawnSync('which', all).status === 0, `a program of a ${name} server: ${all.join(', ')}`);
  }

  /** Installs an empty server without starting it. */
  static async install(kind: Kind, folder: string): Promise<PrivateServer> {
    const own = mkdtempSync(join(folder, `${kind.name}-`));
    chmodSync(folder, 0o755);
    spawnSync('chown', [`${kind.user}:`, own]);
    const server = new PrivateServer(kind, own, await freePort());
    const { exitCode, stdout, stderr } = await server.#runAsServerUser(kind.install(own)).result();
    if (exitCode !== 0) throw new Error(`cannot install ${kind.name}: ${stdout}${stderr}`);
    return server;
  }

  /** Starts the server, unless it runs, and waits until it responds. */
  async start(options: readonly string[] = []): Promise<void> {
    if (this.#program?.isRunning) return;
    const program = this.#runAsServerUser([...this.#kind.run(this.#folder, new URL(this.url).port), ...options]);
    this.#program = program;
    const knex = this.connect();
    await waitUntil(`${this.#kind.name} responds`, async () => {
      if (!program.isRunning) throw new Error(`the server does not start: ${program.stderr}`);
      return isAvailable(knex);
    });
    await knex.destroy();
  }

  /** Connects to its database. The caller destroys the connection. */
  connect(): Knex {
    return connectTo({ client: this.#kind.client, url: this.url });
  }

  /** Kills the server and each child process, because PostgreSQL's children lead their own process groups. */
  async kill(): Promise<void> {
    if (!this.#program?.isRunning) return;
    spawnSync('sh', ['-c', 'kill -KILL $1 $(pgrep -P $1)', 'sh', `${this.#program.process.pid}`]);
    await this.#program.exited();
  }

  #runAsServerUser(command: readonly string[]): Program {
    const { user } = this.#kind;
    const asUser = ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups', '--'];
    return new Program(this.#folder, [...(process.getuid?.() === 0 ? asUser : []), ...command]);
  }
}
