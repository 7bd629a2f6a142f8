import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { create, toLines } from '../../support/client.js';
import { postgresEngine } from '../../support/engines.js';
import { Program } from '../../support/executable.js';
import { commandsUnder } from '../../support/guide.js';
import { inRepository } from '../../support/paths.js';
import { freePort } from '../../support/port.js';
import { exchange, request } from '../../support/raw-http.js';
import { TOKEN } from '../../support/service.js';
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
/** Prints the log of the service. */
const JOURNAL = 'journalctl --sync; journalctl --identifier=plant-store --output=cat';
const PLANTS = '{"id":1,"name":"Monstera"}\n{"id":2,"name":"Calathea","tag":"indoor"}\n';

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

  /** Starts a shell command in the namespaces of systemd, in the folder of the repository. */
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
    const isUp = async () => (await start('systemctl is-active test.target').exited()) === 0;
    await waitUntil('systemd is up', isUp);
    port = await freePort();
    await run(`cat | { ${INSTALL} }`, { input: TOKEN });
  });
  beforeEach(() => writeSecret('tokens', TOKEN));
  afterEach(() => run("systemctl stop 'plant-store*'; systemctl reset-failed; rm -rf /var/lib/private/plant-store"));

  it('the service starts, accepts the tokens of a changed file after a reload, and logs every request until it stops', async () => {
    await configure();
    await run(`${START}`);
    expect(await outcomeOfCreate(1n)).to.equal(200);
    await writeSecret('tokens', 'new-token');
    await run('systemctl reload plant-store@0');
    await waitUntil('tokens reloaded', async () => (await outcomeOfCreate(2n, 'new-token')) === 200);
    expect(await outcomeOfCreate(3n)).to.equal(40102);

    await writeSecret('tokens', '');
    await run('systemctl reload plant-store@0');
    // More than the rate limit of journald, which systemd.sh sets to the minimum.
    const paths = Array.from({ length: 100 }, (_, index) => `/${index}`);
    for (const path of paths) await exchange(port, request(`GET ${path}`));
    await run('systemctl stop plant-store@0');
    const properties = await run('systemctl show plant-store@0 --property=Result,NRestarts');
    expect(toLines(properties)).to.have.members(['Result=success', 'NRestarts=0']);
    expect((await run(JOURNAL)).match(/(?<="path":")\/\d+/g)).to.deep.equal(paths);
    expect(await run(`${JOURNAL} -p err`))
      .to.match(/^{"level":"error".*"keeping the previous tokens"}$/m)
      .and.not.match(/"(info|warn)"/);
  });

  it('the service does not restart after an invalid setting, which is an error in the journal', async () => {
    await configure('PORT=x');
    await run('systemctl start plant-store@0', { expected: 1 });
    const properties = await run('systemctl show plant-store@0 --property=ActiveState,NRestarts');
    expect(toLines(properties)).to.have.members(['ActiveState=failed', 'NRestarts=0']);
    expect(await run(`${JOURNAL} -p err`)).to.match(/^plant-store: PORT: must be a port/m);
  });

  it('the commands of plant-store.sh share the plants of the service, return their exit code, and stop on Ctrl-C', async () => {
    await configure();
    await run('plant-store pick', { expected: 64 });
    await run('plant-store import', { input: PLANTS });
    await run('systemctl start plant-store@0');
    expect(await outcomeOfCreate(1n)).to.equal(40901);
    expect(await outcomeOfCreate(3n)).to.equal(200);
    await run('plant-store import', { input: '{"id":4,"name":"Pilea"}\n' });
    const plants = `${PLANTS}{"id":3,"name":"Ficus"}\n{"id":4,"name":"Pilea"}\n`;
    expect(await run('plant-store export | gzip | gunzip')).to.equal(plants);

    const isRunning = async () =>
      (await run("systemctl list-units --plain --no-legend 'plant-store-command-*'")) !== '';
    await run('mkfifo /run/endless');
    const endless = start('plant-store import <>/run/endless');
    await waitUntil('the import runs', isRunning);
    endless.killGroup('SIGINT');
    await waitUntil('the import ends', async () => !(await isRunning()));
    expect(await endless.exited()).not.to.equal(0);
  });

  it('daily backups can be restored; a failing one leaves the previous one and its time unchanged', async () => {
    const time = '/var/lib/prometheus/node-exporter/plant-store.prom';
    const list = () => run(`cd /var/backups/plant-store; stat --format='%a %n' . *.gz ${time}; cat ${time}`);
    const stored =
      /^700 \.\n600 (plants-\d{8}-\d{6}\.ndjson\.gz)\n644 .*\nplant_store_backup_timestamp_seconds \d{10}\n$/;
    await configure();
    await run('plant-store import', { input: PLANTS });
    await run(`mkdir -p /var/lib/prometheus/node-exporter; ${BACK_UP}`);
    expect(await run('systemctl is-enabled plant-store-backup.timer')).to.equal('enabled\n');
    const [, name] = stored.exec(await list()) ?? [];
    await run(`rm -r /var/lib/private/plant-store; BACKUP=/var/backups/plant-store/${name}; ${RESTORE}`);
    expect(await run('plant-store export')).to.equal(PLANTS);

    await run('touch -d "-40 days" /var/backups/plant-store/plants-20251120-000000.ndjson.gz');
    const before = await list();
    await configure('DATABASE_URL=sqlite:none.db');
    await run('systemctl start plant-store-backup', { expected: 1 });
    expect(await run('systemctl is-failed plant-store-backup')).to.equal('failed\n');
    expect(await list()).to.equal(before);

    await configure();
    await run(`rm /var/backups/plant-store/${name}; systemctl start plant-store-backup`);
    expect(await list(), 'without the old backup').to.match(stored);
  });

  it('an upgrade restarts both instances, or goes back if the release does not exist or become ready', async () => {
    /** Adds a release that runs the first one after a command. */
    const addRelease = (name: string, command: string) => {
      const bin = `/opt/plant-store/${name}/node_modules/.bin`;
      const input = `#!/bin/sh\n${command}\nexec ${FIRST}/node_modules/.bin/plant-store "$@"\n`;
      return run(`mkdir -p ${bin}; cat | install /dev/stdin ${bin}/plant-store`, { input });
    };
    const upgradeTo = (release: string, expected: number) =>
      run(`cd /opt/plant-store; RELEASE=${release}; exec 2>&1; ${UPGRADE}`, { expected });
    /** Returns the release that the link names, and that of each instance. */
    const releases = async () => {
      const variables = '/proc/$(systemctl show plant-store@$n --property=MainPID --value)/environ';
      const print = `echo "$n $(tr '\\0' '\\n' <${variables} | sed -n s/^TEST_RELEASE=//p)"`;
      return toLines(await run(`readlink /opt/plant-store/current; for n in 0 1; do ${print}; done`));
    };
    await writeSecret('database-url', (await stores.create()).url);
    // Both instances have these settings, so each selects a free port.
    await configure('PORT=0', 'DATABASE_URL_FILE=/etc/plant-store/database-url');
    await run('systemctl start plant-store@0 plant-store@1');
    await upgradeTo('none', 1);
    expect(await releases()).to.deep.equal([FIRST, '0 ', '1 ']);
    await addRelease('good', 'export TEST_RELEASE=good');
    await upgradeTo('good', 0);
    expect(await releases()).to.deep.equal(['/opt/plant-store/good', '0 good', '1 good']);
    await addRelease('bad', '! grep -q plant-store@1 /proc/self/cgroup || exit 1');
    expect(await upgradeTo('bad', 1))
      .to.include('plant-store@1 does not become ready with /opt/plant-store/bad: see journalctl -u plant-store@1')
      .and.include('All instances run /opt/plant-store/good again');
    expect(await releases()).to.deep.equal(['/opt/plant-store/good', '0 good', '1 good']);
  });
});
