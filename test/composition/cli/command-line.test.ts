import { expect } from 'chai';
import { describe, it } from 'mocha';
import { commands } from '../../../composition/cli/commands.js';
import { parseCommandLine } from '../../../composition/cli/program.js';
import { readConfig, settings, settingsOf } from '../../../composition/config.js';
import { toLines } from '../../support/client.js';

describe('The command line', () => {
  describe('rejects', () => {
    for (const [line, message] of [
      ['--prot=8080', "unknown option '--prot' (did you mean --port?); see plant-store serve --help"],
      ['migrate --dryrun', "unknown option '--dryrun' (did you mean --dry-run?); see plant-store migrate --help"],
      ['import --reject file', "unknown option '--reject' (did you mean --rejects?); see plant-store import --help"],
      ['sevre', "unknown command 'sevre' (did you mean serve?); see plant-store --help"],
      ['water', "unknown command 'water'; see plant-store --help"],
      ['help tokne', "unknown command 'tokne' (did you mean token?); see plant-store --help"],
      ['serve plants', "too many arguments for 'serve'; see plant-store serve --help"],
      ['--port', "option '--port <value>' argument missing; see plant-store serve --help"],
      // Every user of the machine can read a command line.
      ['--access-tokens=canary', "unknown option '--access-tokens'; see plant-store serve --help"],
      // A setting that the command does not read.
      ['export --body-limit 1mb', "unknown option '--body-limit'; see plant-store export --help"],
    ] as const) {
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
    const textOf = (...args: readonly string[]) => {
      const commandLine = parseCommandLine(args);
      return commandLine.kind === 'print' ? commandLine.text : expect.fail(JSON.stringify(commandLine));
    };

    it('with every command, every group of settings and an example', () => {
      const text = textOf('--help');
      for (const args of [['-h'], ['help']]) expect(textOf(...args)).to.equal(text);
      for (const name of commands.keys()) expect(text).to.match(new RegExp(`^  ${name} +[A-Z].*`, 'm'));
      for (const { group } of settingsOf('serve')) expect(text).to.include(group.toLowerCase());
      expect(text).to.match(/^Example: plant-store /m);
      expectWidth(text);
    });

    for (const [name, { flags = {} }] of commands) {
      it(`for ${name}, with its flags, its settings by group and an example`, () => {
        const text = textOf(name, '--help');
        expect(textOf('help', name)).to.equal(text);
        expect(text).to.match(new RegExp(`^Usage: plant-store ${name}\\b`));
        expect(text).to.match(new RegExp(`^Example: .*plant-store ${name}\\b`, 'm'));
        for (const flag of Object.keys(flags)) expect(text).to.include(`  ${flag} `);
        const listed = [...text.matchAll(/^(?: {2}--([a-z-]+) <value>|([A-Z_]+):)/gm)].map(
          ([, flag, variable]) => variable ?? flag?.toUpperCase().replaceAll('-', '_'),
        );
        expect(listed).to.have.members(settingsOf(name).map(({ variable }) => variable));
        expectWidth(text);
      });
    }
  });

  it('ignores the settings that a command does not read', () => {
    const others = Object.values(settings).filter((setting) => !settingsOf('import').includes(setting));
    const invalid = Object.fromEntries(others.map(({ variable }) => [variable, ' ']));
    for (const environment of [invalid, { JWT_ISSUER: 'issuer' }])
      expect(readConfig(environment, 'import')).to.include({ port: 3000, jwtIssuer: undefined });
  });
});

function expectWidth(text: string): void {
  expect(toLines(text).filter((line) => line.length > 80)).to.deep.equal([]);
}
