import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { create, TOKEN, toLines } from '../../support/client.js';
import { postgresEngine } from '../../support/engines.js';
import { Program } from '../../support/executable.js';
import { commandsUnder } from '../../support/guide.js';
import { inRepository } from '../../support/paths.js';
import { freePort } from '../../support/port.js';
import { skipUnless, skipUnlessInstalled } from '../../support/skip-unless.js';
import { waitUntil } from '../../support/wait-until.js';

/** The commands of the guide: those before the service can be configured, and those that start it. */
const [INSTALL, START] = commandsUnder('Under systemd')
  .join('')
  .split(/(?=^systemctl)/m);
const [BACK_UP, RESTORE] = commandsUnder('Daily, under systemd');
const [UPGRADE] = commandsUnder('Upgrade');
/** The release that systemd.sh installs. */
const FIRST = '/opt/plant-store/20260101-000000';

it('The systemd units have valid directives, and an exposure level of at most 1.5 out of 10', function () {
  skipUnlessInstalled(this, 'systemd-analyze', '--version');
  const analyze = (name: string, ...args: string[]) =>
    spawnSync('systemd-analyze', [...args, inRepository(`docs/operate/${name}`)], { encoding: 'utf8' });
  for (const name of ['plant-store@.service', 'plant-store-backup.service', 'plant-store-backup.timer'])
    expect(analyze(name, 'verify').stderr, name).not.to.match(/Unknown|Invalid|Failed to parse|ignoring/i);
  const { stdout } = analyze('plant-store@.service', 'security', '--offline=true', '--no-pager');
  expect(Number(/Overall exposure level for plant-store@\S*: ([\d.]+)/.exec(stdout)?.[1])).to.be.at.most(1.5);
});

describe('Under systemd', () => {
  const stores = postgresEngine.stores();
  let process1: string;
  let port: number;

  /** Runs a shell command in the namespaces of systemd, in the folder of the repository. */
  const start = (command: string) => {
    const namespaces = ['--target', process1, '--cgroup', '--ipc', '--mount', '--pid', '--uts'];
    const script = `cd ${FIRST}/node_modules/plant-store; ${command}`;
    return new Program('/', ['nsenter', ...namespaces, 'sh', '-euc', script]);
  };
  /** Runs a shell command that exits with `expected`, and returns its standard output. */
  const run = async (command: string, { input = '', expected = 0 } = {}) => {
    const { exitCode, stdout, stderr } = await start(command).result(input);
    expect(exitCode, `${command}: ${stdout}${stderr}`).to.equal(expected);
    return stdout;
  };
  const writeSecret = (name: string, input: string) =>
    run(`cat | install -m 640 -g plant-store-secrets /dev/stdin /etc/plant-store/${name}`, { input });
  /** Writes the example of the settings and further lines, which take precedence. */
  const configure = (...lines: string[]) => {
    const example = readFileSync(inRepository('docs/operate/environment'), 'utf8');
    const settings = [example, `PORT=${port}`, 'MANAGEMENT_PORT=off', ...lines];
    return run('cat >/etc/plant-store/environment', { input: settings.join('\n') });
  };
  const outcomeOfCreate = async (id: bigint, token = TOKEN) =>
    (await create(port, { id, name: 'Ficus' }, { Authorization: `Bearer ${token}` }))?.outcome;

  before(async function () {
    skipUnless(this, spawnSync('unshare', ['--cgroup', '--mount', 'true']).status === 0, 'the privileges of root');
    for (const program of ['/usr/lib/systemd/systemd', 'dbus-daemon']) skipUnlessInstalled(this, program, '--version');
    const script = inRepository('test/system/operate/systemd.sh');
    const systemd = new Program('/', ['unshare', '--cgroup', '--mount', script, inRepository(''), process.execPath]);
    after(async () => {
      process.kill(Number(process1), 'SIGKILL');
      await systemd.exited();
    });
    [, process1 = ''] = await systemd.waitForOutput(/^process 1: (\d+)$/m);
    await waitUntil('systemd is up', async () => (await start('systemctl is-active test.target').exited()) === 0);
    port = await freePort();
    await run(`cat | { ${INSTALL} }`, { input: TOKEN });
  });
  beforeEach(() => configure());
  afterEach(() => run("systemctl stop 'plant-store*'; systemctl reset-failed; rm -rf /var/lib/private/plant-store"));

  it('the service starts, accepts the tokens of a changed file after a reload, and logs requests in the journal', async () => {
    await run(`${START}`);
    expect(await outcomeOfCreate(1n)).to.equal(200);
    await writeSecret('tokens', 'new-token');
    await run('systemctl reload plant-store@0');
    await waitUntil('tokens reloaded', async () => (await outcomeOfCreate(2n, 'new-token')) === 200);
    expect(await outcomeOfCreate(3n)).to.equal(40102);
    await run('systemctl stop plant-store@0');
    expect(await run('systemctl show plant-store@0 --property=Result')).to.equal('Result=success\n');
    expect(await run('journalctl --sync; journalctl --identifier=plant-store')).to.include('"error":40102');
  });

  it('the service does not restart after an invalid setting', async () => {
    await configure('PORT=x');
    await run('systemctl start plant-store@0', { expected: 1 });
    const properties = await run('systemctl show plant-store@0 --property=ActiveState,NRestarts');
    expect(toLines(properties)).to.have.members(['ActiveState=failed', 'NRestarts=0']);
  });

  it('the commands of plant-store.sh use the store of the service, whose daily backup can be restored', async () => {
    const plants = '{"id":1,"name":"Monstera"}\n{"id":2,"name":"Calathea","tag":"indoor"}\n';
    await run('plant-store import', { input: plants });
    await run(`mkdir -p /var/lib/prometheus/node-exporter; ${BACK_UP}`);
    const list = () => run('cat /var/lib/prometheus/node-exporter/plant-store.prom; ls /var/backups/plant-store/*.gz');
    const backup = await list();
    const [, file] = /^plant_store_backup_timestamp_seconds \d{10}\n(\S+\.ndjson\.gz)\n$/.exec(backup) ?? [];
    await configure('DATABASE_URL=sqlite:none.db');
    await run('systemctl start plant-store-backup', { expected: 1 });
    expect(await list(), 'after a backup that fails').to.equal(backup);

    await configure();
    await run(`rm -r /var/lib/private/plant-store; BACKUP=${file}; ${RESTORE}`);
    expect(await run('plant-store export')).to.equal(plants);
  });

  it('an upgrade restarts both instances, or goes back if one does not become ready', async () => {
    /** Adds a release that runs a command and then the first release. */
    const addRelease = async (name: string, command: string) => {
      const bin = `/opt/plant-store/${name}/node_modules/.bin`;
      const input = `#!/bin/sh\n${command}\nexec ${FIRST}/node_modules/.bin/plant-store "$@"\n`;
      await run(`mkdir -p ${bin}; cat | install /dev/stdin ${bin}/plant-store`, { input });
    };
    await addRelease('good', 'echo good >>starts');
    await addRelease('bad', 'grep -q plant-store@1 /proc/self/cgroup && exit 1; echo bad >>starts');
    await writeSecret('database-url', (await stores.create()).url);
    // Both instances have these settings, so each selects a free port.
    await configure('PORT=0', 'DATABASE_URL_FILE=/etc/plant-store/database-url');
    await run('systemctl start plant-store@0 plant-store@1');
    await run(`RELEASE=/opt/plant-store/good; ${UPGRADE}`);
    await run(`RELEASE=/opt/plant-store/bad; ${UPGRADE}`, { expected: 1 });
    const starts = await run(
      'systemctl is-active plant-store@0 plant-store@1; cat /var/lib/private/plant-store/starts',
    );
    expect(toLines(starts)).to.deep.equal(['active', 'active', 'good', 'good', 'bad', 'good', 'good']);
  });
});
