import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { readConfig, settings } from '../../../composition/config.js';
import { inRepository } from '../../support/paths.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { commandsUnder } from './guide.js';

const UNIT = inRepository('docs/operate/plant-store@.service');
/** Maximum exposure level, from 0 (fully confined) to 10 (unconfined). */
const MAX_EXPOSURE = 1.5;

describe('The systemd unit', () => {
  const unit = readFileSync(UNIT, 'utf8');
  const lines = unit.split('\n');

  it('runs as an unprivileged user that may write to the data folder only, restarts after failures, and reads tokens again at a reload', () => {
    expect(lines).to.include.members([
      ...['DynamicUser=yes', 'StateDirectory=plant-store', 'ProtectSystem=strict'],
      'Environment=DATABASE_URL=sqlite:/var/lib/plant-store/plants.db',
      ...['Restart=on-failure', 'StartLimitIntervalSec=0', 'RestartPreventExitStatus=64 78'],
      ...['Environment=ACCESS_TOKENS_FILE=/etc/plant-store/tokens', 'ExecReload=/usr/bin/kill -HUP $MAINPID'],
    ]);
    expect(unit).not.to.match(/^(ReadWritePaths|CacheDirectory|LogsDirectory|BindPaths)=/m);
  });

  it('sets only environment variables that the service knows', () => {
    const assigned = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, text = '']) => text.split(' '));
    const known = ['NODE_ENV', ...Object.values(settings).map(({ variable }) => variable)];
    expect(known).to.include.members(assigned.map((assignment) => assignment.split('=', 1)[0]));
  });

  it('gives each instance two unique ports, and the first instance the default ports', () => {
    const portsOf = (instance: number) =>
      [/ PORT=(\S+)/, / MANAGEMENT_PORT=(\S+)/].map((pattern) =>
        Number(pattern.exec(unit)?.[1]?.replaceAll('%i', `${instance}`)),
      );
    const { port, managementPort } = readConfig({});
    expect(portsOf(0)).to.deep.equal([port, managementPort]);
    const ports = Array.from({ length: 10 }, (_, instance) => portsOf(instance)).flat();
    expect(new Set(ports)).to.have.property('size', 20);
    const proxy = readFileSync(inRepository('docs/operate/nginx.conf'), 'utf8');
    for (const instance of [0, 1]) expect(proxy).to.include(`server 127.0.0.1:${portsOf(instance)[0]} max_fails=0;`);
  });

  it('runs no command as root, and reads the tokens as a member of a group that cannot write them', () => {
    expect(unit).not.to.match(/^Exec\w+=[-@:]*[+!]/m);
    expect(unit).not.to.match(/^(RuntimeDirectory|ConfigurationDirectory)=/m);
    const [, group] = /^SupplementaryGroups=(.*)$/m.exec(unit) ?? [];
    const [commands = ''] = commandsUnder('Under systemd');
    expect(commands.split('\n').map((line) => line.split(/ {2,}#/)[0])).to.include.members([
      `groupadd --system ${group}`,
      `install -d -m 750 -g ${group} /etc/plant-store`,
      `install -m 640 -g ${group} /dev/stdin /etc/plant-store/tokens`,
    ]);
  });

  describe('according to systemd-analyze', () => {
    before(function () {
      skipUnlessInstalled(this, 'systemd-analyze', '--version');
    });
    const analyze = (...args: string[]) => spawnSync('systemd-analyze', [...args, UNIT], { encoding: 'utf8' });

    it(`has an exposure level of at most ${MAX_EXPOSURE} out of 10`, () => {
      const { stdout } = analyze('security', '--offline=true', '--no-pager');
      const [, exposure] = /Overall exposure level for plant-store@\S*: ([\d.]+)/.exec(stdout) ?? [];
      expect(Number(exposure)).to.be.at.most(MAX_EXPOSURE);
    });

    it('contains no unknown or invalid directive', () => {
      expect(analyze('verify').stderr).not.to.match(/Unknown|Invalid|Failed to parse|ignoring/i);
    });
  });
});
