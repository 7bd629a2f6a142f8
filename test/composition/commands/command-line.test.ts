import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { commands } from '../../../composition/commands/index.js';
import { settings, settingsOf } from '../../../composition/config.js';
import { toLines } from '../../support/client.js';
import { Executable, endProgramsAfterEach } from '../../support/executable.js';
import { inRepository } from '../../support/paths.js';
import { temporaryFolder } from '../../support/temporary.js';

describe('The command line', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();

  /** Runs the executable until it exits. */
  async function run(...args: readonly string[]) {
    const program = new Executable(folder, args, { PORT: '0', DATABASE_URL: 'memory:' });
    return { exitCode: await program.exited(), stdout: program.stdout, stderr: program.stderr };
  }

  it('prefers flags to environment variables', async () => {
    const environment = { PORT: '99999', BASE_PATH: '/variable', DATABASE_URL: 'memory:' };
    const service = new Executable(folder, ['serve', '--port', '0', '--base-path=/flag'], environment);
    await service.waitForOutput(/listens on http:\/\/127\.0\.0\.1:\d+\/flag\n/);
  });

  describe('exits with 64 and one line that refers to --help for', () => {
    const usageErrors: Readonly<Record<string, readonly [args: readonly string[], command: string]>> = {
      'an unknown flag': [['--prot=8080'], ''],
      'an unknown flag of a command': [['migrate', '--dry'], 'migrate '],
      'an unknown command': [['sevre'], ''],
      'the help of an unknown command': [['help', 'sevre'], ''],
      'an unexpected argument': [['serve', 'plants'], 'serve '],
      'a flag without its value': [['--port'], ''],
      'a flag whose value looks like a flag': [['--port', '-1'], ''],
    };
    for (const [what, [args, command]] of Object.entries(usageErrors)) {
      it(what, async () => {
        const { exitCode, stdout, stderr } = await run(...args);
        expect({ exitCode, stdout }).to.deep.equal({ exitCode: 64, stdout: '' });
        expect(toLines(stderr)).to.have.length(1);
        expect(stderr).to.match(new RegExp(`^plant-store: .*; see plant-store ${command}--help\n$`));
      });
    }

    it('a token as a flag, because every user of the machine can read a command line', async () => {
      const { exitCode, stdout, stderr } = await run('--access-tokens=canary');
      expect({ exitCode, stdout }).to.deep.equal({ exitCode: 64, stdout: '' });
      expect(stderr)
        .to.match(/^plant-store: .*; see plant-store --help\n$/)
        .and.not.include('canary');
    });
  });

  describe('suggests', () => {
    for (const [args, suggestion] of [
      [['--prot=8080'], '--port'],
      [['--databse-url', 'memory:'], '--database-url'],
      [['import', '--reject', 'file'], '--rejects'],
      [['migrate', '--dryrun'], '--dry-run'],
      [['sevre'], 'serve'],
      [['exports'], 'export'],
      [['help', 'tokne'], 'token'],
    ] as const) {
      it(`${suggestion} for ${args.join(' ')}`, async () => {
        expect((await run(...args)).stderr).to.include(` (did you mean ${suggestion}?)`);
      });
    }

    it('nothing for a name that is not similar to a known one', async () => {
      for (const args of [['--colour'], ['water'], ['export', '--port', '0']]) {
        expect((await run(...args)).stderr)
          .to.match(/^plant-store: unknown/)
          .and.not.include('did you mean');
      }
    });
  });

  describe('has help', () => {
    const groups = [...new Set(settingsOf('serve').map(({ group }) => group))];

    it('that fits 80 columns and 24 lines, with every command, every group of settings and an example', async () => {
      const outputs = await Promise.all([run('--help'), run('-h'), run('help')]);
      const [{ stdout } = { stdout: '' }] = outputs;
      for (const output of outputs) expect(output).to.deep.equal({ exitCode: 0, stdout, stderr: '' });
      for (const name of commands.keys()) expect(stdout).to.match(new RegExp(`^  ${name} +[A-Z].*\\.$`, 'm'));
      for (const group of groups) expect(stdout).to.include(group.toLowerCase());
      expect(stdout).to.match(/^Example: plant-store /m);
      // The prompt takes the last line of the screen.
      expect(toLines(stdout)).to.have.length.of.at.most(23);
      expectWidth(stdout);
    });

    for (const [name, { flags = {} }] of commands) {
      it(`for ${name} that fits 80 columns, with its flags, its settings by group and an example`, async () => {
        const outputs = await Promise.all([run(name, '--help'), run('help', name)]);
        const [{ stdout } = { stdout: '' }] = outputs;
        for (const output of outputs) expect(output).to.deep.equal({ exitCode: 0, stdout, stderr: '' });
        expect(stdout).to.match(new RegExp(`^Usage: plant-store \\[?${name}\\b`));
        expect(stdout).to.match(new RegExp(`^Example: .*plant-store ${name}\\b`, 'm'));
        for (const flag of Object.keys(flags)) {
          expect(stdout)
            .to.match(new RegExp(`^Usage: .*\\[--${flag}\\b`))
            .and.to.match(new RegExp(`^  --${flag} `, 'm'));
        }
        const listed = [...stdout.matchAll(/^ {2}(?:--([a-z-]+)|([A-Z_]+)) /gm)].map(
          ([, flag, variable]) => variable ?? flag?.toUpperCase().replaceAll('-', '_'),
        );
        const variables = settingsOf(name).map(({ variable }) => variable);
        expect(listed.filter((row) => Object.values(settings).some(({ variable }) => variable === row))).to.deep.equal(
          variables,
        );
        const titles = [...stdout.matchAll(/^([A-Z]\w+):$/gm)].map(([, title]) => title);
        expect(titles).to.deep.equal(groups.filter((group) => settingsOf(name).some((one) => one.group === group)));
        for (const setting of settingsOf(name)) {
          if (setting.default !== undefined) expect(stdout.replaceAll(/\s+/g, ' ')).to.include(`[${setting.default}]`);
        }
        expectWidth(stdout);
      });
    }

    it('with the exit codes of README.md', async () => {
      const [, table = ''] = readFileSync(inRepository('README.md'), 'utf8').split('| exit code |');
      const documented = table.matchAll(/^\| (\d+)(?: \+ n)? \| (\w+)/gm);
      const { stdout } = await run('--help');
      const [text = ''] = /^Exit codes: .*/ms.exec(stdout) ?? [];
      const printed = text.replaceAll('\n', ' ').matchAll(/(\d+)(?: \+ n)? (\w+)/g);
      const pairs = (matches: Iterable<RegExpExecArray>) => [...matches].map(([, code, word]) => `${code} ${word}`);
      expect(pairs(documented)).to.have.length(5).and.to.deep.equal(pairs(printed));
    });
  });

  describe('reads the settings that the help of a command lists, and no other, for', () => {
    const INVALID = {
      HOST: 'a b',
      PORT: 'http',
      BASE_PATH: 'garden',
      DOCS: 'yes',
      MANAGEMENT_HOST: 'a b',
      MANAGEMENT_PORT: 'http',
      DATABASE_URL: 'oracle:',
      PLUGINS: ',',
      ACCESS_TOKENS: 'a b',
      ACCESS_TOKENS_FILE: 'no such file',
      JWT_JWKS_URL: 'ftp://issuer.example',
      BODY_LIMIT: 'huge',
      MAX_PENDING: '0',
      MAX_PENDING_BYTES: '0',
      MAX_WRITES: '0',
      HEADERS_TIMEOUT: '0s',
      REQUEST_TIMEOUT: '0s',
      KEEP_ALIVE_TIMEOUT: '0s',
      STORAGE_TIMEOUT: '0s',
      SHUTDOWN_TIMEOUT: '0s',
      LOG_LEVEL: 'loud',
    };

    for (const name of commands.keys()) {
      it(name, async () => {
        const program = new Executable(folder, [name], INVALID);
        const exitCode = await program.exited();
        const variables = settingsOf(name).map(({ variable }) => variable);
        expect(exitCode).to.equal(variables.length > 0 ? 78 : 0);
        // JWT_ISSUER and JWT_AUDIENCE accept any text; a line says that they must be set.
        const isNamed = (variable: string) => {
          return RegExp(`^plant-store: (\\w+ and )?${variable}(=| and | must be set)`, 'm').test(program.stderr);
        };
        const named = Object.values(settings)
          .map(({ variable }) => variable)
          .filter(isNamed);
        expect(named).to.have.members(variables);
      });
    }

    for (const args of [
      ['import', '--port', '0'],
      ['export', '--body-limit', '1mb'],
      ['migrate', '--access-tokens-file', 'tokens'],
      ['token', '--database-url', 'memory:'],
    ]) {
      it(`${args[0]}, which rejects the flag ${args[1]}`, async () => {
        const { exitCode, stderr } = await run(...args);
        expect(exitCode).to.equal(64);
        expect(stderr).to.equal(`plant-store: unknown flag ${args[1]}; see plant-store ${args[0]} --help\n`);
      });
    }
  });

  it('prints the version of package.json', async () => {
    const { version } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8'));
    for (const flag of ['--version', '-v']) {
      expect(await run(flag)).to.deep.equal({ exitCode: 0, stdout: `${version}\n`, stderr: '' });
    }
  });
});

function expectWidth(text: string): void {
  expect(toLines(text).filter((line) => line.length > 80)).to.deep.equal([]);
}
