import type { Context } from 'mocha';
import { PrivateServer, postgresStandby, privateServers } from '../support/private-server.js';
import { waitUntil } from '../support/wait-until.js';

/** Options that make a primary, even a promoted one, wait until its standby has synced a commit. */
const SETTINGS = ['-c', 'synchronous_standby_names=*'];

/** A PostgreSQL primary and its synchronous standby. */
export class PostgresPair {
  readonly #folder: string;
  #primary: PrivateServer;
  #standby: PrivateServer | undefined;
  #servers = 1;

  private constructor(folder: string, primary: PrivateServer) {
    this.#folder = folder;
    this.#primary = primary;
  }

  /** Skips a test if a pair cannot run on this machine. Throws instead if `CI=true`. */
  static skipUnlessAvailable(context: Context): void {
    PrivateServer.skipUnlessAvailable(context, privateServers.postgres);
    PrivateServer.skipUnlessAvailable(context, postgresStandby('', 'PostgreSQL standby'));
  }

  /** Starts a new pair. Always {@link stop} it. */
  static async start(folder: string): Promise<PostgresPair> {
    const pair = new PostgresPair(folder, await PrivateServer.install(privateServers.postgres, folder));
    await pair.startPrimary();
    await pair.addStandby();
    return pair;
  }

  get primary(): PrivateServer {
    return this.#primary;
  }

  get url(): string {
    return this.#primary.server.url;
  }

  get standby(): PrivateServer {
    if (this.#standby === undefined) throw new Error('the standby was promoted');
    return this.#standby;
  }

  startPrimary(): Promise<void> {
    return this.#primary.start(SETTINGS);
  }

  /** Starts the standby; it catches up once the primary runs. */
  startStandby(): Promise<void> {
    return this.standby.start(SETTINGS);
  }

  /** Adds a new standby and waits until it is in sync. */
  async addStandby(): Promise<void> {
    const kind = postgresStandby(this.url, `PostgreSQL ${++this.#servers}`);
    this.#standby = await PrivateServer.install(kind, this.#folder);
    await this.startStandby();
    await this.#waitUntilRows('the standby is in sync', "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'");
  }

  /** Waits until a transaction on the primary waits for the standby. */
  async waitForBlockedCommit(): Promise<void> {
    await this.#waitUntilRows(
      'a transaction waits for the standby',
      "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND backend_type = 'client backend'",
    );
  }

  /** Kills the primary and promotes the standby, which commits nothing until {@link addStandby}. */
  async failOver(): Promise<void> {
    await this.#primary.kill();
    const knex = this.standby.connect();
    await knex.raw('SELECT pg_promote()').finally(() => knex.destroy());
    this.#primary = this.standby;
    this.#standby = undefined;
  }

  /** Kills both servers. */
  async stop(): Promise<void> {
    await Promise.all([this.#primary.kill(), this.#standby?.kill()]);
  }

  async #waitUntilRows(description: string, query: string): Promise<void> {
    const knex = this.#primary.connect();
    try {
      await waitUntil(description, async () => (await knex.raw(query)).rows.length > 0);
    } finally {
      await knex.destroy();
    }
  }
}
