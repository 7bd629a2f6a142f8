import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import knexFactory, {} from 'knex';
import { Program } from '../support/executable.js';
import { needs } from '../support/needs.js';
/** Debian's package galera-4; elsewhere the variable says where the library is. */
const GALERA = process.env['TEST_GALERA'] ?? '/usr/lib/galera/libgalera_smm.so';
/** Debian keeps it where users do not look for programs. */
const SERVER = existsSync('/usr/sbin/mariadbd') ? '/usr/sbin/mariadbd' : 'mariadbd';
/** MariaDB takes root's rights only when told so, and the copy of the data by rsync not even then. */
const USER = process.getuid?.() === 0 ? ['--user=mysql'] : [];
/** How long the cluster may take to do what it was told. */
const PATIENCE_MS = 60_000;
/** Skips a test, by name, on a machine that cannot run a cluster; where `CI=true` that is a failure. */
export function needsGalera(context) {
    const programs = [SERVER, 'mariadb-install-db', 'rsync'];
    const missing = programs.filter((program) => spawnSync('which', [program]).status !== 0);
    if (!existsSync(GALERA))
        missing.push(GALERA);
    needs(context, missing.length === 0, `${missing.join(', ')}: apt-get install mariadb-server galera-4 rsync`);
}
/** Looks again and again until `isSo`; fails where that takes too long. */
export async function until(what, isSo) {
    const deadline = performance.now() + PATIENCE_MS;
    while (!(await isSo())) {
        if (performance.now() > deadline)
            throw new Error(`in ${PATIENCE_MS} ms it did not come to pass that ${what}`);
        await setTimeout(50);
    }
}
/** One server of a cluster. */
export class GaleraNode {
    name;
    /** Questions to this server, and to no other. They wait for what the cluster has committed before. */
    sql;
    #folder;
    #ports;
    #program;
    constructor(parent, name, ports) {
        this.name = name;
        this.#folder = join(parent, name);
        this.#ports = ports;
        this.sql = knexFactory({
            client: 'mysql2',
            log: { error() { }, warn() { } },
            connection: { uri: this.url('mysql'), charset: 'utf8mb4', supportBigNumbers: true, bigNumberStrings: true },
            pool: {
                min: 0,
                max: 2,
                afterCreate: (connection, done) => connection.query('SET SESSION wsrep_sync_wait = 1', done),
            },
        });
    }
    get #options() {
        const [data, tmp] = [join(this.#folder, 'data'), join(this.#folder, 'tmp')];
        return ['--no-defaults', ...USER, `--datadir=${data}`, `--tmpdir=${tmp}`];
    }
    /** The URL of one of its databases. */
    url(database) {
        return `mysql://root@127.0.0.1:${this.#ports.sql}/${database}`;
    }
    /** Where the other servers of the cluster find this one. */
    get address() {
        return `127.0.0.1:${this.#ports.group}`;
    }
    /** Makes the folder of its data, with nobody's plants in it. */
    async install() {
        mkdirSync(join(this.#folder, 'tmp'), { recursive: true });
        chmodSync(join(this.#folder, 'tmp'), 0o777);
        const options = ['--skip-test-db', '--auth-root-authentication-method=normal'];
        const run = new Program(this.#folder, ['mariadb-install-db', ...this.#options, ...options], {});
        if ((await run.exited()) !== 0)
            throw new Error(`${this.name} has no data folder: ${run.stdout}${run.stderr}`);
    }
    /** Starts it as a member of the cluster of all `addresses`, or as the first of them. */
    start(addresses, isFirst) {
        const { sql, group, increments, copies } = this.#ports;
        this.#program = new Program(this.#folder, [
            SERVER,
            ...this.#options,
            `--socket=${join(this.#folder, 'data', 'socket')}`,
            `--pid-file=${join(this.#folder, 'data', 'pid')}`,
            '--bind-address=127.0.0.1',
            `--port=${sql}`,
            '--binlog-format=ROW',
            '--innodb-autoinc-lock-mode=2',
            '--innodb-flush-log-at-trx-commit=1',
            '--innodb-buffer-pool-size=64M',
            '--innodb-log-file-size=32M',
            '--wsrep-on=ON',
            `--wsrep-provider=${GALERA}`,
            `--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:${group};ist.recv_addr=127.0.0.1:${increments};gcache.size=16M`,
            // What two nodes want at once comes to the service; by default the server itself tries once more.
            '--wsrep-retry-autocommit=0',
            `--wsrep-cluster-address=gcomm://${addresses.join(',')}`,
            '--wsrep-cluster-name=plant-store-test',
            '--wsrep-node-address=127.0.0.1',
            `--wsrep-node-name=${this.name}`,
            '--wsrep-sst-method=rsync',
            `--wsrep-sst-receive-address=127.0.0.1:${copies}`,
            ...(isFirst ? ['--wsrep-new-cluster'] : []),
        ], {});
    }
    /** A status of the server, by its name without `wsrep_`; `undefined` while it does not answer. */
    async status(name) {
        try {
            const [rows] = await this.sql.raw(`SHOW STATUS LIKE 'wsrep_${name}'`);
            return rows[0]?.Value;
        }
        catch {
            const { exitCode, signalCode } = this.#program?.process ?? {};
            if (typeof exitCode === 'number')
                throw new Error(`${this.name} ended: ${this.#program?.stderr.slice(-4000)}`);
            if (typeof signalCode === 'string')
                throw new Error(`${this.name} was ended by ${signalCode}`);
            return undefined;
        }
    }
    /** Waits until it belongs to a working cluster of so many servers and has all that the others have. */
    synced(size) {
        return until(`${this.name} is in step with a cluster of ${size}`, async () => {
            const [ready, members, state] = await Promise.all(['ready', 'cluster_size', 'local_state'].map((name) => this.status(name)));
            return ready === 'ON' && members === `${size}` && state === '4';
        });
    }
    /** Ends it without a warning. */
    async kill() {
        await this.#program?.killGroup('SIGKILL').exited();
    }
}
/** Three servers on this machine that are one database. */
export class GaleraCluster {
    nodes;
    constructor(nodes) {
        this.nodes = nodes;
    }
    /** A cluster that is not started; {@link stop} it in any case. */
    static async in(folder) {
        // The servers run as another user where this is root.
        chmodSync(folder, 0o755);
        const ports = await freePorts(12);
        const node = (index) => {
            const [sql = 0, group = 0, increments = 0, copies = 0] = ports.slice(index * 4);
            return new GaleraNode(folder, `node-${index + 1}`, { sql, group, increments, copies });
        };
        return new GaleraCluster([node(0), node(1), node(2)]);
    }
    async start() {
        await Promise.all(this.nodes.map((node) => node.install()));
        const [first, ...others] = this.nodes;
        const addresses = this.nodes.map(({ address }) => address);
        first.start(addresses, true);
        await first.synced(1);
        for (const node of others)
            node.start(addresses, false);
        await Promise.all(this.nodes.map((node) => node.synced(3)));
    }
    /** Ends every server that still runs. */
    async stop() {
        await Promise.all(this.nodes.map((node) => node.kill()));
        await Promise.all(this.nodes.map((node) => node.sql.destroy()));
    }
}
async function freePorts(count) {
    const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
    await Promise.all(servers.map((server) => once(server, 'listening')));
    const ports = servers.map((server) => {
        const address = server.address();
        return typeof address === 'object' ? (address?.port ?? 0) : 0;
    });
    await Promise.all(servers.map((server) => once(server.close(), 'close')));
    return ports;
}
//# sourceMappingURL=galera-cluster.js.map