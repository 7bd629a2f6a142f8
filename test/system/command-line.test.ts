import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { commands } from '../../composition/commands/index.js';
import { settings } from '../../composition/config.js';
import { Executable, endProgramsAfterEach } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';
import { linesOf } from './client.js';

describe('The command line', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();

  /** Runs the executable where it must end by itself. */
  async function run(...args: readonly string[]) {
    const program = new Executable(folder, args, { PORT: '0', DATABASE_URL: 'memory:' });
    return { exitCode: await program.exited(), stdout: program.stdout, stderr: program.stderr };
  }

  it('has flags, which go before their variables', async () => {
    const environment = { PORT: '99999', BASE_PATH: '/variable', DATABASE_URL: 'memory:' };
    const service = new Executable(folder, ['serve', '--port', '0', '--base-path=/flag'], environment);
    await service.says(/listens on http:\/\/127\.0\.0\.1:\d+\/flag\n/);
  });

  describe('used wrongly says so in one line, and where to look, with exit code 64:', () => {
    const wrong: Readonly<Record<string, readonly [args: readonly string[], see: string]>> = {
      'an unknown flag': [['--prot=8080'], ''],
      'an unknown flag of a command': [['migrate', '--dry'], 'migrate '],
      'an unknown command': [['sevre'], ''],
      'the help of an unknown command': [['help', 'sevre'], ''],
      'one argument too many': [['serve', 'plants'], 'serve '],
      'a flag without its value': [['--port'], ''],
      'a flag whose value looks like a flag': [['--port', '-1'], ''],
    };
    for (const [what, [args, see]] of Object.entries(wrong)) {
      it(what, async () => {
        const { exitCode, stdout, stderr } = await run(...args);
        expect({ exitCode, stdout }).to.deep.equal({ exitCode: 64, stdout: '' });
        expect(linesOf(stderr)).to.have.length(1);
        expect(stderr).to.match(new RegExp(`^plant-store: .*; see plant-store ${see}--help\n$`));
      });
    }

    it('tokens as a flag, because every user of the machine can read a command line', async () => {
      const { exitCode, stdout, stderr } = await run('--access-tokens=canary');
      expect(exitCode).to.equal(64);
      expect(stdout + stderr).not.to.contain('canary');
    });
  });

  describe('has help', () => {
    it('with every command, every setting and an example, whichever way it is asked for', async () => {
      const answers = await Promise.all([run('--help'), run('-h'), run('help')]);
      const [{ stdout } = { stdout: '' }] = answers;
      for (const answer of answers) expect(answer).to.deep.equal({ exitCode: 0, stdout, stderr: '' });
      for (const name of commands.keys()) expect(stdout).to.match(new RegExp(`^  ${name} +[A-Z].*\\.$`, 'm'));
      for (const { variable } of Object.values(settings)) expect(stdout).to.match(new RegExp(`^  ${variable} `, 'm'));
      expect(stdout).to.match(/^Example: plant-store /m);
    });

    for (const [name, { flags }] of commands) {
      it(`of ${name}, with its flags and an example`, async () => {
        const answers = await Promise.all([run(name, '--help'), run('help', name)]);
        const [{ stdout } = { stdout: '' }] = answers;
        for (const answer of answers) expect(answer).to.deep.equal({ exitCode: 0, stdout, stderr: '' });
        expect(stdout).to.match(new RegExp(`^Usage: plant-store \\[?${name}\\b`));
        expect(stdout).to.match(new RegExp(`^Example: .*plant-store ${name}\\b`, 'm'));
        for (const flag of Object.keys(flags)) {
          expect(stdout)
            .to.match(new RegExp(`^Usage: .*\\[--${flag}\\b`))
            .and.to.match(new RegExp(`^  --${flag} `, 'm'));
        }
      });
    }

    it('with the exit codes that README.md has', async () => {
      const [, table = ''] = readFileSync(inRepository('README.md'), 'utf8').split('| exit code |');
      const documented = table.matchAll(/^\| (\d+)(?: \+ n)? \| (\w+)/gm);
      const { stdout } = await run('--help');
      const [line = ''] = /^Exit codes: .*/m.exec(stdout) ?? [];
      const told = line.matchAll(/(\d+)(?: \+ n)? (\w+)/g);
      const pairs = (matches: Iterable<RegExpExecArray>) => [...matches].map(([, code, word]) => `${code} ${word}`);
      expect(pairs(documented)).to.have.length(5).and.to.deep.equal(pairs(told));
    });
  });

  it("has a --version: package.json's", async () => {
    const { version } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8'));
    for (const flag of ['--version', '-v']) {
      expect(await run(flag)).to.deep.equal({ exitCode: 0, stdout: `${version}\n`, stderr: '' });
    }
  });
});
