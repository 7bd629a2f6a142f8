import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { commands } from '../../../composition/cli/commands.js';
import { parseCommandLine } from '../../../composition/cli/program.js';
import { readConfig, settings, settingsOf } from '../../../composition/config.js';
import { toLines } from '../../support/client.js';
import { inRepository } from '../../support/paths.js';

describe('The command line', () => {
  describe('rejects', () => {
    const usageErrors: readonly (readonly [line: string, problem: string])[] = [
      ['--prot=8080', "unknown option '--prot' (did you mean --port?); see plant-store serve --help"],
      [
        '--databse-url memory:',
        "unknown option '--databse-url' (did you mean --database-url?); see plant-store serve --help",
      ],
      ['--colour', "unknown option '--colour'; see plant-store serve --help"],
      ['migrate --dryrun', "unknown option '--dryrun' (did you mean --dry-run?); see plant-store migrate --help"],
      ['import --reject file', "unknown option '--reject' (did you mean --rejects?); see plant-store import --help"],
      ['sevre', "unknown command 'sevre' (did you mean serve?); see plant-store --help"],
      ['water', "unknown command 'water'; see plant-store --help"],
      ['help tokne', "unknown command 'tokne' (did you mean token?); see plant-store --help"],
      ['serve plants', "too many arguments for 'serve'; see plant-store serve --help"],
      ['import a b', "too many arguments for 'import'; see plant-store import --help"],
      ['--port', "option '--port <value>' argument missing; see plant-store serve --help"],
      // Every user of the machine can read a command line.
      ['--access-tokens=canary', "unknown option '--access-tokens'; see plant-store serve --help"],
      // Settings that the command does not read.
      ['import --port 0', "unknown option '--port'; see plant-store import --help"],
      ['export --body-limit 1mb', "unknown option '--body-limit'; see plant-store export --help"],
      ['migrate --access-tokens-file f', "unknown option '--access-tokens-file'; see plant-store migrate --help"],
      ['token --database-url memory:', "unknown option '--database-url'; see plant-store token --help"],
    ];
    for (const [line, message] of usageErrors) {
      it(line, () => {
        expect(parseCommandLine(line.split(' '))).to.deep.equal({ kind: 'usage-error', message });
      });
    }
  });

  it('accepts empty values and values that start with a dash', () => {
    const settings = { PLUGINS: '', PORT: '-1', DATABASE_URL: 'postgres://host/plants?a=b' };
    const args = ['--plugins=', '--port', '-1', '--database-url=postgres://host/plants?a=b'];
    expect(parseCommandLine(args)).to.deep.include({ kind: 'run', name: 'serve', settings });
  });

  describe('has help', () => {
    const groups = [...new Set(settingsOf('serve').map(({ group }) => group))];
    const textOf = (...args: readonly string[]) => {
      const commandLine = parseCommandLine(args);
      return commandLine.kind === 'print' ? commandLine.text : expect.fail(JSON.stringify(commandLine));
    };

    it('with every command, every group of settings and an example', () => {
      const text = textOf('--help');
      for (const args of [['-h'], ['help']]) expect(textOf(...args)).to.equal(text);
      for (const name of commands.keys()) expect(text).to.match(new RegExp(`^  ${name} +[A-Z].*`, 'm'));
      for (const group of groups) expect(text).to.include(group.toLowerCase());
      expect(text).to.match(/^Example: plant-store /m);
      expectWidth(text);
    });

    for (const [name, { flags = {} }] of commands) {
      it(`for ${name}, with its flags, its settings by group and an example`, () => {
        const text = textOf(name, '--help');
        expect(textOf('help', name)).to.equal(text);
        expect(text).to.match(new RegExp(`^Usage: plant-store ${name}\\b`));
        expect(text).to.match(new RegExp(`^Example: .*plant-store ${name}\\b`, 'm'));
        for (const flag of Object.keys(flags).map((syntax) => syntax.split(' ')[0])) {
          expect(text)
            .to.match(new RegExp(`^Usage: .*\\[${flag}\\b`))
            .and.to.match(new RegExp(`^  ${flag} `, 'm'));
        }
        const listed = [...text.matchAll(/^(?: {2}--([a-z-]+) <value>|([A-Z_]+):)/gm)].map(
          ([, flag, variable]) => variable ?? flag?.toUpperCase().replaceAll('-', '_'),
        );
        expect(listed).to.have.members(settingsOf(name).map(({ variable }) => variable));
        const titles = [...text.matchAll(/^([A-Z][a-z]+):$/gm)].map(([, title]) => title);
        const expected = groups.filter((group) => settingsOf(name).some((one) => one.group === group));
        expect(titles).to.deep.equal([...expected, 'Options']);
        for (const setting of settingsOf(name)) {
          if (setting.default !== undefined) expect(text.replaceAll(/\s+/g, ' ')).to.include(`[${setting.default}]`);
        }
        expectWidth(text);
      });
    }

    it('with the exit codes of README.md', () => {
      const [, table = ''] = readFileSync(inRepository('README.md'), 'utf8').split('| exit code |');
      const documented = table.matchAll(/^\| (\d+)(?: \+ n)? \| (\w+)/gm);
      const [text = ''] = /^Exit codes: .*/ms.exec(textOf('--help')) ?? [];
      const printed = text.replaceAll('\n', ' ').matchAll(/(\d+)(?: \+ n)? (\w+)/g);
      const pairs = (matches: Iterable<RegExpExecArray>) => [...matches].map(([, code, word]) => `${code} ${word}`);
      expect(pairs(documented)).to.have.length(5).and.to.deep.equal(pairs(printed));
    });
  });

  describe('reads the settings that the help of a command lists, and no other, for', () => {
    // JWT_ISSUER and JWT_AUDIENCE accept any text; a line says that they must be set.
    const checked = Object.values(settings).filter(({ allowed }) => allowed !== settings.jwtIssuer.allowed);
    const invalid = Object.fromEntries(checked.map(({ variable }) => [variable, ' ']));

    for (const name of commands.keys()) {
      it(name, () => {
        const variables = settingsOf(name).map(({ variable }) => variable);
        let problems = '';
        try {
          readConfig(invalid, name);
        } catch (error) {
          problems = `${Object(error).message}`;
        }
        const isNamed = (variable: string) =>
          RegExp(`^(\\w+ and )?${variable}(=| and | must be set)`, 'm').test(problems);
        const named = Object.values(settings).filter(({ variable }) => isNamed(variable));
        expect(named.map(({ variable }) => variable)).to.have.members(variables);
      });
    }
  });
});

function expectWidth(text: string): void {
  expect(toLines(text).filter((line) => line.length > 80)).to.deep.equal([]);
}
