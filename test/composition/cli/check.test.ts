import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toLines } from '../../support/client.js';
import { CommandFolder } from '../../support/command-folder.js';
import { runInProcess } from './in-process.js';

describe('check', () => {
  const folder = new CommandFolder();
  const run = (command: string, environment: Readonly<Record<string, string>>) =>
    runInProcess(folder.path, [command], environment);

  it('prints the settings without secrets, and what it does not see', async () => {
    const environment = { DATABASE_URL: 'memory:', ACCESS_TOKENS: 'canary', PORT: '0', ACCESS_LOG: '' };
    const { exitCode, stdout, stderr } = await run('check', environment);
    expect([exitCode, stderr]).to.deep.equal([0, '']);
    expect(toLines(stdout)).to.include.members([
      ...['PORT=0', 'ACCESS_LOG=on', 'DATABASE_URL=memory:', 'ACCESS_TOKENS=(not shown)', 'storage: memory:'],
      'not checked: privileges to create plants, and whether the ports are free',
    ]);
    expect(stdout).not.to.include('_FILE');
  });

  it('prints the paths of files that exist, and no URL of a server', async () => {
    const tokens = folder.newFile('# none\n');
    const secrets = { ACCESS_TOKENS_FILE: 'postgres://u:canary@db/plants', DATABASE_URL: 'garden://u:canary@db' };
    expect((await run('check', secrets)).stdout)
      .to.match(/^ACCESS_TOKENS_FILE=\(not shown\)$/m)
      .and.to.match(/^DATABASE_URL=\(not shown\)$/m);
    const files = { ACCESS_TOKENS_FILE: tokens, DATABASE_URL_FILE: folder.newFile('memory:') };
    expect((await run('check', files)).stdout)
      .to.include(`ACCESS_TOKENS_FILE=${tokens}\n`)
      .and.to.include('DATABASE_URL=memory:\n');
  });

  it('prints no URL with a user, a query or a fragment', async () => {
    const jwt = { JWT_ISSUER: 'urn:issuer#canary', JWT_AUDIENCE: 'u:canary@db/plants' };
    const urls = { ...jwt, JWT_JWKS_URL: 'https:issuer.example/keys?key=canary' };
    const { exitCode, stdout } = await run('check', { DATABASE_URL: 'memory:', ...urls });
    expect(exitCode).to.equal(0);
    expect(stdout)
      .to.match(/^JWT_JWKS_URL=\(not shown\)$/m)
      .and.not.to.include('canary');
  });

  it('reports an invalid tokens file, also if a plugin replaces the token verifier', async () => {
    const plugin = join(folder.path, 'verifier.mjs');
    const rebind = "container.rebind(Symbol.for('plant-store:TokenVerifier')).toConstantValue({})";
    writeFileSync(plugin, `export default (container) => { ${rebind}; };`);
    const settings = { DATABASE_URL: 'memory:', PLUGINS: plugin, ACCESS_TOKENS_FILE: folder.newFile('') };
    const { exitCode, stderr } = await run('check', settings);
    expect(stderr).to.equal('plant-store: ACCESS_TOKENS_FILE: the file contains no token\n');
    expect(exitCode).to.equal(78);
  });

  it('prints what serve would do to the storage, and creates nothing', async () => {
    const database = folder.newDatabase();
    const before = await run('check', database);
    expect(before).to.include({ exitCode: 0, stderr: '' });
    expect(before.stdout).to.match(
      /^storage: sqlite:.*, driver \S+; there is no store yet; serve will apply 001_plants\b/m,
    );
    expect(existsSync(folder.fileOf(database))).to.equal(false);
    await run('migrate', database);
    expect((await run('check', database)).stdout).to.match(/^storage: sqlite:.*, driver \S+$/m);
  });

  it('reports every problem, in one line each', async () => {
    // Other hosts can connect, so a credential is required.
    const environment = { HOST: '0.0.0.0', DATABASE_URL: 'sqlite:none/plants.db' };
    const { exitCode, stderr } = await run('check', { ...environment, ACCESS_TOKEN: 'canary', log_levle: 'x' });
    expect([exitCode, toLines(stderr).length]).to.deep.equal([78, 4]);
    for (const problem of [
      /: ACCESS_TOKEN: no such setting; did you mean ACCESS_TOKENS\?$/m,
      /: log_levle: no such setting; did you mean LOG_LEVEL\?$/m,
      /: ACCESS_TOKENS, .* must be set/,
      /: DATABASE_URL: cannot open sqlite:/,
    ])
      expect(stderr).to.match(problem);
  });

  it('exits with 1 if only the storage has a problem, and takes no similar variable for a short setting', async () => {
    const result = await run('check', { DATABASE_URL: 'sqlite:none/plants.db', PART: '1', HOSTS: 'a', DATABASE: 'x' });
    expect(result.exitCode).to.equal(1);
    expect(toLines(result.stderr)).to.have.lengthOf(1);
  });
});
