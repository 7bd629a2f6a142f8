import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { settings } from '../../../composition/config.js';
import { needsProgram } from '../../support/needs.js';
import { inRepository } from '../../support/paths.js';

const UNIT = inRepository('docs/operate/plant-store.service');
/** 0 is a service that may do nothing, 10 one that may do everything; below 2 it is "OK" to systemd. */
const EXPOSURE_MAX = 1.5;

describe('The systemd unit', () => {
  const unit = readFileSync(UNIT, 'utf8');

  it('runs as an ordinary user that may write the data folder alone', () => {
    const lines = unit.split('\n');
    expect(lines).to.include.members(['DynamicUser=yes', 'StateDirectory=plant-store', 'ProtectSystem=strict']);
    expect(
      lines.filter((line) => /^(ReadWritePaths|CacheDirectory|LogsDirectory|BindPaths)=/.test(line)),
    ).to.deep.equal([]);
    expect(lines).to.include('Environment=DATABASE_URL=sqlite:/var/lib/plant-store/plants.db');
  });

  it('comes again after every failure, however often, but for settings that are wrong', () => {
    const lines = unit.split('\n');
    expect(lines).to.include.members([
      'Restart=on-failure',
      'StartLimitIntervalSec=0',
      'RestartPreventExitStatus=64 78',
    ]);
  });

  it('sets nothing that is no setting', () => {
    const assigned = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, text = '']) => text.split(' '));
    const names = assigned.map((assignment) => assignment.split('=', 1)[0]).filter((name) => name !== 'NODE_ENV');
    const known: string[] = Object.values(settings).map(({ variable }) => variable);
    expect(names.filter((name) => !known.includes(name ?? ''))).to.deep.equal([]);
  });

  describe('to systemd', () => {
    before(function () {
      needsProgram(this, 'systemd-analyze', '--version');
    });

    it(`is exposed by no more than ${EXPOSURE_MAX} of 10`, function () {
      this.timeout(20_000);
      const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', '--no-pager', UNIT], {
        encoding: 'utf8',
      });
      const [, exposure] = /Overall exposure level for plant-store\.service: ([\d.]+)/.exec(stdout) ?? [];
      expect(Number(exposure)).to.be.at.most(EXPOSURE_MAX);
    });

    it('has nothing in it that is not understood', function () {
      this.timeout(20_000);
      const { stderr } = spawnSync('systemd-analyze', ['verify', UNIT], { encoding: 'utf8' });
      expect(stderr.split('\n').filter((line) => /Unknown|Invalid|Failed to parse|ignoring/i.test(line))).to.deep.equal(
        [],
      );
    });
  });
});
