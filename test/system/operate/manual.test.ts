import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { commands } from '../../../composition/cli/commands.js';
import { settings } from '../../../composition/config.js';
import { inRepository } from '../../support/paths.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';

describe('The generated manual', () => {
  it('is a man page without warnings that has every command and setting', function () {
    skipUnlessInstalled(this, 'man', '--version');
    const env = { ...process.env, MANWIDTH: '120', LC_ALL: 'C.UTF-8' };
    const args = ['--warnings', '--local-file', inRepository('dist/plant-store.1')];
    const { status, stdout, stderr } = spawnSync('man', args, { encoding: 'utf8', env });
    expect([status, stderr]).to.deep.equal([0, '']);
    for (const [name, { summary }] of commands) {
      expect(stdout).to.match(RegExp(`^ +plant-store ${name} `, 'm'));
      expect(stdout.replaceAll(/\s+/g, ' ')).to.include(summary);
    }
    for (const { variable } of Object.values(settings)) expect(stdout).to.match(RegExp(`^ +${variable}(,|$)`, 'm'));
  });

  describe('completes in bash', () => {
    const complete = (...words: string[]) => {
      const [word, previous] = [words.at(-1), words.at(-2)];
      const script = `source "$1"; COMP_WORDS=("\${@:4}"); _plant_store plant-store "$2" "$3"; echo "\${COMPREPLY[*]}"`;
      const args = ['-c', script, 'bash', inRepository('dist/plant-store.bash'), word ?? '', previous ?? ''];
      const { status, stdout, stderr } = spawnSync('bash', [...args, 'plant-store', ...words], { encoding: 'utf8' });
      expect([status, stderr]).to.deep.equal([0, '']);
      return stdout.trim();
    };

    it('the commands', () => {
      expect(complete('').split(' ')).to.include.members([...commands.keys(), '--port']);
    });

    for (const [words, expected] of [
      [['migrate', '--d'], '--database-url --database-url-file --dry-run'],
      [['token', '--'], '--json --help'],
      [['serve', '--log-level', 'd'], 'debug'],
      [['serve', '--docs', ''], 'on off'],
      [['--access-log', 'o'], 'on off'],
      // The shell completes files instead.
      [['serve', '--access-tokens-file', ''], ''],
    ] as const) {
      it(`plant-store ${words.join(' ')}`, () => {
        expect(complete(...words)).to.equal(expected);
      });
    }
  });
});
