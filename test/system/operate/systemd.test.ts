import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { create, toLines } from '../../support/client.js';
import { databasesOn, postgresServer } from '../../support/database-servers.js';
import { type CommandResult, Program } from '../../support/executable.js';
import { FaultyProxy } from '../../support/faulty-proxy.js';
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

describe('The systemd units', () => {
  const analyze = (name: string, ...args: string[]) =>
    spawnSync('systemd-analyze', [...args, inRepository(`docs/operate/${name}`)], { encoding: 'utf8' });
  before(function () {
    skipUnlessInstalled(this, 'systemd-analyze', '--version');
  });

  it('have valid directives', () => {
    for (const name of ['plant-store@.service', 'plant-store-backup.service', 'plant-store-backup.timer'])
      expect(analyze(name, 'verify').stderr, name).not.to.match(/Unknown|Invalid|Failed to parse|ignoring/i);
  });

  it('give the service an exposure level of at most 1.5 out of 10', () => {
    const { stdout } = analyze('plant-store@.service', 'security', '--offline=true', '--no-pager');
    expect(Number(/Overall exposure level for plant-store@\S*: ([\d.]+)/.exec(stdout)?.[1])).to.be.at.most(1.5);
  });
});

describe('Under systemd, the service', () => {
  const systemd = bootSystemd();
  let port: number;
  let managementPort: number;
  /** Runs a command that must succeed, and returns its standard output. */
  const run = async (command: string, input?: string) => {
    const { exitCode, stdout, stderr } = await systemd.run(command, input);
    const journal = exitCode === 0 ? undefined : await systemd.run('journalctl --sync; journalctl --lines=20');
    expect(exitCode, `${command}: ${stdout}${stderr}${journal?.stdout}`).to.equal(0);
    return stdout;
  };
  const writeSecret = (name: string, text: string) =>
    run(`cat | install -m 640 -g plant-store-secrets /dev/stdin /etc/plant-store/${name}`, text);
  /** Writes the example of the settings and further lines, which take precedence. */
  const configure = (...lines: string[]) => {
    const example = readFileSync(inRepository('docs/operate/environment'), 'utf8');
    return run('cat >/etc/plant-store/environment', [example, `PORT=${port}`, ...lines].join('\n'));
  };
  /** Returns properties of the unit, as lines. */
  const show = async (properties: string) =>
    toLines(await run(`systemctl show plant-store@0 --property=${properties}`));
  const outcomeOfCreate = async (id: bigint, token = TOKEN) =>
    (await create(port, { id, name: 'Ficus' }, { Authorization: `Bearer ${token}` }))?.outcome;

  before(async () => {
    [port, managementPort] = [await freePort(), await freePort()];
    await run(`cat | { ${INSTALL} }`, TOKEN);
  });
  beforeEach(() => writeSecret('tokens', TOKEN));
  afterEach(async () => {
    await run("systemctl stop 'plant-store*'; systemctl reset-failed; rm -rf /var/lib/private/plant-store");
  });

  it('creates plants as soon as systemctl start returns, also without or with a public management listener', async () => {
    const listeners = [['MANAGEMENT_PORT=off'], ['MANAGEMENT_HOST=127.0.0.2', `MANAGEMENT_PORT=${managementPort}`]];
    for (const [index, lines] of listeners.entries()) {
      await configure(...lines);
      await run(`systemctl stop plant-store@0; ${START}`);
      expect(await outcomeOfCreate(BigInt(index)), lines.join()).to.equal(200);
      expect(await show('ActiveState,NRestarts')).to.have.members(['ActiveState=active', 'NRestarts=0']);
    }
  });

  it('does not restart after an invalid setting, which is an error in the journal', async () => {
    await configure('PORT=x');
    expect(await systemd.run('systemctl start plant-store@0')).to.include({ exitCode: 1 });
    const state = await show('ActiveState,ExecMainStatus,NRestarts');
    expect(state).to.have.members(['ActiveState=failed', 'ExecMainStatus=78', 'NRestarts=0']);
    expect(await run(`${JOURNAL} -p err`)).to.match(/^plant-store: PORT: must be a port/m);
  });

  it('accepts the tokens of a changed file after systemctl reload', async () => {
    await configure('MANAGEMENT_PORT=off');
    await run('systemctl start plant-store@0');
    expect(await outcomeOfCreate(1n, 'new-token')).to.equal(40102);
    await writeSecret('tokens', 'new-token');
    await run('systemctl reload plant-store@0');
    await waitUntil('tokens reloaded', async () => (await outcomeOfCreate(1n, 'new-token')) !== 40102);
    expect(await outcomeOfCreate(1n)).to.equal(40102);
  });

  it('logs every request to the journal, beyond the rate limit of journald, and errors with their priority', async () => {
    await configure('MANAGEMENT_PORT=off');
    await run('systemctl start plant-store@0');
    await writeSecret('tokens', '');
    await run('systemctl reload plant-store@0');
    const paths = Array.from({ length: 100 }, (_, index) => `/${index}`);
    for (const path of paths) await exchange(port, request(`GET ${path}`));
    await run('systemctl stop plant-store@0');
    expect((await run(JOURNAL)).match(/(?<="path":")\/\d+/g)).to.deep.equal(paths);
    expect(await run(`${JOURNAL} -p err`))
      .to.match(/^{"level":"error".*"keeping the previous tokens"}$/m)
      .and.not.match(/"(info|warn)"/);
  });

  it('shares its plants with the commands of plant-store.sh, before its first start and while it runs', async () => {
    await configure('MANAGEMENT_PORT=off');
    expect(await systemd.run('plant-store export')).to.include({ exitCode: 1 });
    await run('plant-store import', PLANTS);
    await run('systemctl start plant-store@0');
    expect(await outcomeOfCreate(1n)).to.equal(40901);
    await run('plant-store import', '{"id":4,"name":"Pilea"}\n');
    expect(await outcomeOfCreate(3n)).to.equal(200);
    const plants = `${PLANTS}{"id":3,"name":"Ficus"}\n{"id":4,"name":"Pilea"}\n`;
    expect(await run('plant-store export | gzip | gunzip')).to.equal(plants);
  });

  it('has commands in plant-store.sh that return their exit code, and stop on Ctrl-C', async () => {
    await configure();
    expect(await systemd.run('plant-store check')).to.include({ exitCode: 0 });
    expect(await systemd.run('plant-store pick')).to.include({ exitCode: 64 });
    const units = () => run("systemctl list-units --plain --no-legend 'plant-store-command-*'");
    await run('mkfifo /run/endless');
    const endless = systemd.spawn('plant-store import <>/run/endless');
    await waitUntil('the import runs', async () => /activating/.test(await units()));
    endless.killGroup('SIGINT');
    await waitUntil('the import ends', async () => (await units()) === '');
    expect(await endless.exited()).not.to.equal(0);
  });

  it('has daily backups that can be restored; a failing one leaves the previous one and its time unchanged', async () => {
    const time = '/var/lib/prometheus/node-exporter/plant-store.prom';
    const list = () => run(`cd /var/backups/plant-store; stat --format='%a %n' . *.gz ${time}; cat ${time}`);
    const stored =
      /^700 \.\n600 (plants-\d{8}-\d{6}\.ndjson\.gz)\n644 .*\nplant_store_backup_timestamp_seconds \d{10}\n$/;
    await configure();
    await run('plant-store import', PLANTS);
    await run(`mkdir -p /var/lib/prometheus/node-exporter; ${BACK_UP}`);
    expect(await run('systemctl is-enabled plant-store-backup.timer; systemctl list-timers')).to.match(
      /^enabled\n.*plant/s,
    );
    const [, name] = stored.exec(await list()) ?? [];
    await run(`rm -r /var/lib/private/plant-store; BACKUP=/var/backups/plant-store/${name}; ${RESTORE}`);
    expect(await run('plant-store export')).to.equal(PLANTS);

    await run('touch -d "-40 days" /var/backups/plant-store/plants-20251120-000000.ndjson.gz');
    const before = await list();
    await configure('DATABASE_URL=sqlite:none.db');
    expect(await systemd.run('systemctl start plant-store-backup')).to.include({ exitCode: 1 });
    expect(await run('systemctl --failed --plain')).to.match(/^plant-store-backup\.service/m);
    expect(await list()).to.equal(before);

    await configure();
    await run(`rm /var/backups/plant-store/${name}; systemctl start plant-store-backup`);
    expect(await list())
      .to.match(stored)
      .and.not.include(name);
  });

  describe('on a database server', () => {
    const databases = databasesOn(postgresServer);

    it('waits at startup until the server responds', async () => {
      const proxy = await FaultyProxy.to(await databases.create());
      await proxy.refuseConnections();
      await writeSecret('database-url', proxy.toProxiedUrl(proxy.target));
      await configure('MANAGEMENT_PORT=off', 'DATABASE_URL_FILE=/etc/plant-store/database-url');
      const start = systemd.spawn('systemctl start plant-store@0');
      const isWaiting = async () => /waiting for the database/.test(await run(JOURNAL));
      await waitUntil('the log tells that it waits', isWaiting);
      expect(start.isRunning, 'while it waits').to.equal(true);
      await proxy.restore();
      expect(await start.exited()).to.equal(0);
      expect(await outcomeOfCreate(1n)).to.equal(200);
      expect(await show('NRestarts')).to.deep.equal(['NRestarts=0']);
      await run('systemctl stop plant-store@0');
      await proxy.refuseConnections();
    });

    describe('with two instances', () => {
      let id = 0n;
      /** Adds a release that runs the first one after a command. */
      const addRelease = (name: string, command: string) => {
        const bin = `/opt/plant-store/${name}/node_modules/.bin`;
        const script = `#!/bin/sh\n${command}\nexec ${FIRST}/node_modules/.bin/plant-store "$@"\n`;
        return run(`mkdir -p ${bin}; cat | install /dev/stdin ${bin}/plant-store`, script);
      };
      const upgradeTo = (release: string) => systemd.run(`cd /opt/plant-store; RELEASE=${release}; ${UPGRADE}`);
      /** Returns the release that the link names, and that of each instance that can create a plant. */
      const releases = async () => {
        const found = [await run('readlink /opt/plant-store/current')];
        for (const instance of [0, 1]) {
          const unit = `plant-store@${instance}`;
          const [, chosen] = /.*"url":"[^"]*:(\d+)"/s.exec(await run(`${JOURNAL} --unit=${unit}`)) ?? [];
          expect((await create(Number(chosen), { id: id++, name: 'Ficus' }))?.outcome).to.equal(200);
          const variables = `/proc/$(systemctl show ${unit} --property=MainPID --value)/environ`;
          found.push(await run(`tr '\\0' '\\n' <${variables} | sed -n s/^TEST_RELEASE=//p`));
        }
        return found.map((each) => each.trim());
      };

      beforeEach(async () => {
        await writeSecret('database-url', await databases.create());
        // Both instances have these settings, so each selects a free port.
        await configure('PORT=0', 'MANAGEMENT_PORT=off', 'DATABASE_URL_FILE=/etc/plant-store/database-url');
        await run('systemctl start plant-store@0 plant-store@1');
      });

      it('runs another release after an upgrade, and the first one after going back', async () => {
        await addRelease('good', 'export TEST_RELEASE=good');
        expect(await upgradeTo('good')).to.include({ exitCode: 0, stderr: '' });
        expect(await releases()).to.deep.equal(['/opt/plant-store/good', 'good', 'good']);
        expect(await upgradeTo(FIRST)).to.include({ exitCode: 0, stderr: '' });
        expect(await releases()).to.deep.equal([FIRST, '', '']);
      });

      it('runs the previous release if the new one does not exist, or an instance does not become ready with it', async () => {
        expect(await upgradeTo('none')).to.include({ exitCode: 1 });
        expect(await releases()).to.deep.equal([FIRST, '', '']);
        await addRelease('bad', 'export TEST_RELEASE=bad; ! grep -q plant-store@1 /proc/self/cgroup || exit 1');
        const { exitCode, stderr } = await upgradeTo('bad');
        expect(exitCode).to.equal(1);
        expect(stderr)
          .to.include('plant-store@1 does not become ready with /opt/plant-store/bad: see journalctl -u plant-store@1')
          .and.include(`All instances run ${FIRST} again`);
        expect(await releases()).to.deep.equal([FIRST, '', '']);
      });
    });
  });
});

/**
 * Boots a systemd for the surrounding suite, which kills it at its end. Skips the suite if that is impossible. Call it
 * inside `describe`.
 *
 * It shares the network of this machine, but neither processes nor files. `FIRST` is this build.
 */
function bootSystemd() {
  let process1 = 0;
  let program: Program | undefined;

  /** Starts a shell command in it, in the folder of the repository. */
  function spawn(command: string): Program {
    const target = ['--target', `${process1}`, '--cgroup', '--ipc', '--mount', '--pid', '--uts'];
    const script = `cd ${FIRST}/node_modules/plant-store; ${command}`;
    return new Program('/', ['nsenter', ...target, 'sh', '-euc', script]);
  }

  /** Runs a shell command in it, in the folder of the repository. */
  function run(command: string, input?: string): Promise<CommandResult> {
    return spawn(command).result(input);
  }

  before(async function () {
    skipUnless(this, spawnSync('unshare', ['--cgroup', '--mount', 'true']).status === 0, 'the privileges of root');
    skipUnless(this, existsSync('/usr/lib/systemd/systemd'), 'systemd');
    skipUnlessInstalled(this, 'dbus-daemon', '--version');
    const script = inRepository('test/system/operate/systemd.sh');
    program = new Program('/', ['unshare', '--cgroup', '--mount', script, inRepository(''), process.execPath]);
    process1 = Number((await program.waitForOutput(/^process 1: (\d+)$/m))[1]);
    await waitUntil('systemd is up', async () => (await run('systemctl is-active test.target')).exitCode === 0);
  });
  after(async () => {
    if (program?.isRunning && process1 > 0) process.kill(process1, 'SIGKILL');
    await program?.exited();
  });
  return { spawn, run };
}
