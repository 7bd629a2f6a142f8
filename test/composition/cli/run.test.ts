import { expect } from 'chai';
import { describe, it } from 'mocha';
import { settings } from '../../../composition/settings.js';
import { version } from '../../../composition/version.js';
import { toLines } from '../../support/client.js';
import { CommandFolder } from '../../support/command-folder.js';

const COMMANDS = ['serve', 'check', 'import', 'export', 'migrate', 'health', 'token'];

describe('The command line', () => {
  const folder = new CommandFolder();
  const run = (line: string, environment = {}) =>
    folder.run(line.split(' '), { DATABASE_URL: 'memory:', ...environment });

  it('has a version, and one help, of at most 60 lines of 80 columns, with every command and setting', async () => {
    const { exitCode, stdout } = await run('--help');
    const lines = toLines(stdout);
    expect([exitCode, lines.length <= 60, lines.filter((line) => line.length > 80)]).to.deep.equal([0, true, []]);
    const terms = [...COMMANDS, ...Object.values(settings).map(({ variable }) => variable)];
    expect([...stdout.matchAll(/^ {2}(\w+) {2,}\S/gm)].map(([, term]) => term)).to.deep.equal(terms);
    expect(stdout).to.match(/^ {2}PORT +.* \[3000\]$/m);
    expect((await run('import -h')).stdout).to.equal(stdout);
    expect((await run('-v')).stdout).to.equal(`${version}\n`);
  });

  it('may have flags, which take precedence over variables and the file with the URL unless they are blank', async () => {
    const environment = { DATABASE_URL: 'x', DATABASE_URL_FILE: '/none', PORT: 'x' };
    const { stdout } = await run('check --database-url=memory: --port 0', environment);
    expect(toLines(stdout)).to.include.members(['PORT=0', 'storage: memory']);
    const { stderr } = await run('check --database-url=\t --port 0', environment);
    expect(stderr).to.match(/^plant-store: DATABASE_URL_FILE: ENOENT/);
  });

  it('that is invalid exits with 64, and one line that names the problem', async () => {
    for (const [line, problem] of [
      ['--prot=8080', "Unknown option '--prot'"],
      ['--port', "Option '--port <value>' argument missing"],
      ['water', "Unknown command 'water'"],
      ['postgres://u:canary@db/x', "Unknown command 'postgres…'"],
      ['constructor', "Unknown command 'constructor'"],
      ['serve plants', 'Too many arguments for serve'],
      ['import a b', 'Too many arguments for import'],
      // Every user of the machine can read a command line.
      ['--access-tokens=canary', "Unknown option '--access-tokens'"],
    ] as const) {
      const stderr = `plant-store: ${problem}; see plant-store --help\n`;
      expect(await run(line), line).to.deep.equal({ exitCode: 64, stdout: '', stderr });
    }
  });

  it('that fails also reports mistyped settings, once', async () => {
    const failed = await run('export', { DATABASE_URL: 'sqlite:none/x.db', DATABSE_URL: 'x' });
    expect(failed.stderr).to.match(/^.*none is missing\n.* DATABSE_URL: .*\n$/);
    expect(failed.exitCode).to.equal(1);
    const invalid = await run('serve --port x', { DATABASE_URL: '', DATABSE_URL: 'x' });
    expect(invalid.stderr).to.match(/^plant-store: PORT: .*\nplant-store: DATABSE_URL: .*\n$/);
    expect(invalid.exitCode).to.equal(78);
  });
});
