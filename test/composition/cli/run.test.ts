import { expect } from 'chai';
import { describe, it } from 'mocha';
import { settings } from '../../../composition/settings.js';
import { version } from '../../../composition/version.js';
import { toLines } from '../../support/client.js';
import { runInProcess } from './in-process.js';

const COMMANDS = ['serve', 'check', 'import', 'export', 'migrate', 'health', 'token'];

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

  it('may have flags, which take precedence over variables and the file with the URL unless they are blank', async () => {
    const environment = { DATABASE_URL: 'x', DATABASE_URL_FILE: '/none', PORT: 'x' };
    expect((await run('check --database-url=', { DATABASE_URL: 'memory:' })).stdout).to.include('storage: memory\n');
    const { stdout } = await run('check --database-url=memory: --port 0', environment);
    expect(toLines(stdout)).to.include.members(['PORT=0', 'storage: memory']);
    const { stderr } = await run('check --database-url=\t --port 0', environment);
    expect(stderr).to.match(/^plant-store: DATABASE_URL_FILE: ENOENT/);
  });

  it('that is invalid exits with 64, and one line that names the problem', async () => {
    for (const [line, problem] of [
      ['--prot=8080', /^plant-store: Unknown option '--prot'; see plant-store --help\n$/],
      ['--port', /^plant-store: Option '--port <value>' argument missing; see .*\n$/],
      ['water', /^plant-store: Unknown command 'water'; see .*\n$/],
      ['ACCESS_TOKENS=canary', /^plant-store: Unknown command 'ACCESS_TOKENS…'; see .*\n$/],
      ['postgres://u:canary@db/x', /^plant-store: Unknown command 'postgres…'; see .*\n$/],
      ['constructor', /^plant-store: Unknown command 'constructor'; see .*\n$/],
      ['serve plants', /^plant-store: Too many arguments for serve; see .*\n$/],
      ['import a b', /^plant-store: Too many arguments for import; see .*\n$/],
      // Every user of the machine can read a command line.
      ['--access-tokens=canary', /^plant-store: Unknown option '--access-tokens'; see .*\n$/],
    ] as const) {
      const { exitCode, stdout, stderr } = await run(line);
      expect(stderr).to.match(problem);
      expect([exitCode, stdout], line).to.deep.equal([64, '']);
    }
  });

  it('that fails also reports mistyped settings, once', async () => {
    for (const [line, environment, exitCode, problems] of [
      [
        'export',
        { DATABASE_URL: 'sqlite:none/x.db', DATABSE_URL: 'x' },
        1,
        /^.*none is missing\n.* DATABSE_URL: .*\n$/,
      ],
      ['serve', { DATABASE_URL: '', DATABSE_URL: 'x' }, 78, /^plant-store: DATABSE_URL: .*\n$/],
      ['serve --port x --docs 1', { LOG_LEVLE: 'x' }, 78, /^.* PORT: .*\n.* DOCS: .*\n.* LOG_LEVLE: no such .*\n$/],
    ] as const) {
      const result = await run(line, environment);
      expect(result.stderr).to.match(problems);
      expect(result.exitCode, line).to.equal(exitCode);
    }
  });
});
