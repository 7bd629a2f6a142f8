import { expect } from 'chai';
import { describe, it } from 'mocha';
import { settings, version } from '../../../composition/config.js';
import { toLines } from '../../support/client.js';
import { runInProcess } from './in-process.js';

const COMMANDS = ['serve', 'check', 'import', 'export', 'migrate', 'token'];

/** Command lines that fail, with the one line that each prints per problem. */
const FAILURES = [
  { title: 'an unknown flag', line: '--prot=8080', exitCode: 64, stderr: /^Unknown option '--prot'; see .*--help$/ },
  { title: 'a flag without a value', line: '--port', exitCode: 64, stderr: /^Option '--port <value>' argument miss/ },
  { title: 'an unknown command', line: 'water', exitCode: 64, stderr: /^Unknown command 'water'; see/ },
  { title: 'a command named like a member of every object', line: 'constructor', exitCode: 64, stderr: /^Unknown c/ },
  { title: 'an argument of serve', line: 'serve plants', exitCode: 64, stderr: /^Too many arguments for serve; see/ },
  { title: 'two files of import', line: 'import a b', exitCode: 64, stderr: /^Too many arguments for import; see/ },
  {
    title: 'tokens in a flag, which every user of the machine can read',
    line: '--access-tokens=canary',
    exitCode: 64,
    stderr: /^Unknown option '--access-tokens'; see/,
  },
  {
    title: 'several invalid settings',
    line: 'check --port http --docs 1',
    exitCode: 78,
    stderr: /^PORT: must be .*\nplant-store: DOCS: must be one of on, off$/,
  },
];

describe('The command line', () => {
  const run = (line: string, environment = {}) =>
    runInProcess('.', line.split(' '), { DATABASE_URL: 'memory:', ...environment });

  it('has one help, of at most 60 lines of 80 columns, with every command and setting', async () => {
    const { exitCode, stdout } = await run('--help');
    const lines = toLines(stdout);
    expect([exitCode, lines.length <= 60, lines.filter((line) => line.length > 80)]).to.deep.equal([0, true, []]);
    const terms = [...COMMANDS, ...Object.values(settings).map(({ variable }) => variable)];
    expect([...stdout.matchAll(/^ {2}(\w+) {2,}\S/gm)].map(([, term]) => term)).to.deep.equal(terms);
    expect(stdout)
      .to.match(/^ {2}PORT +.* \[3000\]$/m)
      .and.to.match(/^ {2}BASE_PATH .*[^\]]$/m);
    expect((await run('import -h')).stdout).to.equal(stdout);
  });

  it('prints the version', async () => {
    expect(await run('-v')).to.deep.equal({ exitCode: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('may have flags, which take precedence over variables and the file with the URL', async () => {
    const environment = { DATABASE_URL: 'x', DATABASE_URL_FILE: 'x', PORT: 'x' };
    const { stdout } = await run('check --database-url=memory: --port 0', environment);
    expect(stdout)
      .to.match(/^PORT=0\n/m)
      .and.to.match(/^storage: memory:/m);
  });

  describe('fails with a line per problem for', () => {
    for (const { title, line, exitCode, stderr } of FAILURES) {
      it(title, async () => {
        const result = await run(line);
        expect(result.stderr.replace(/^plant-store: |\n$/g, '')).to.match(stderr);
        expect(result).to.include({ exitCode, stdout: '' });
      });
    }
  });
});
