import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toLines } from '../../support/client.js';
import { CommandFolder } from '../../support/command-folder.js';
import { runInProcess } from './in-process.js';

describe('check', () => {
  const folder = new CommandFolder();
  const run = (environment: Readonly<Record<string, string>>, command = 'check') =>
    runInProcess(folder.path, [command], { DATABASE_URL: 'memory:', ...environment });

  it('prints the settings without secrets, and what it does not see', async () => {
    const { exitCode, stdout, stderr } = await run({ ACCESS_TOKENS: 'canary', PORT: '0', ACCESS_LOG: '' });
    expect([exitCode, stderr]).to.deep.equal([0, '']);
    expect(toLines(stdout)).to.include.members([
      ...['PORT=0', 'ACCESS_LOG=on', 'DATABASE_URL=memory:', 'ACCESS_TOKENS=(not shown)', 'storage: memory'],
      'not checked: privileges to create plants, and whether the ports are free',
    ]);
    expect(stdout).not.to.include('_FILE');
  });

  it('prints the paths of files, but no URL of a server and none with a secret', async () => {
    const tokens = folder.newFile('# none\n');
    const files = await run({ ACCESS_TOKENS_FILE: tokens, DATABASE_URL_FILE: folder.newFile('memory:') });
    expect(toLines(files.stdout)).to.include.members([`ACCESS_TOKENS_FILE=${tokens}`, 'DATABASE_URL=memory:']);
    const secrets = {
      ACCESS_TOKENS_FILE: 'postgres://u:canary@db/plants',
      DATABASE_URL: 'garden://u:canary@db',
      JWT_ISSUER: 'urn:issuer#canary',
      JWT_AUDIENCE: 'u:canary@db/plants',
      JWT_JWKS_URL: 'https:issuer.example/keys?key=canary',
    };
    const { stdout } = await run(secrets);
    expect(toLines(stdout)).to.include.members(Object.keys(secrets).map((variable) => `${variable}=(not shown)`));
    expect(stdout).not.to.include('canary');
  });

  it('reports an invalid tokens file, also if a plugin replaces the token verifier', async () => {
    const plugin = join(folder.path, 'verifier.mjs');
    const rebind = "container.rebind(Symbol.for('plant-store:TokenVerifier')).toConstantValue({})";
    writeFileSync(plugin, `export default (container) => { ${rebind}; };`);
    const { exitCode, stderr } = await run({ PLUGINS: plugin, ACCESS_TOKENS_FILE: folder.newFile('') });
    expect(stderr).to.equal('plant-store: ACCESS_TOKENS_FILE: the file contains no token\n');
    expect(exitCode).to.equal(78);
  });

  it('prints what serve would do to the storage, and creates nothing', async () => {
    const database = folder.newDatabase();
    const before = await run(database);
    expect(before).to.include({ exitCode: 0, stderr: '' });
    expect(before.stdout).to.match(
      /^storage: sqlite:.*, driver \S+; there is no store yet; serve will apply 001_plants\b/m,
    );
    expect(existsSync(folder.fileOf(database))).to.equal(false);
    await run(database, 'migrate');
    expect((await run(database)).stdout).to.match(/^storage: sqlite:.*, driver \S+$/m);
  });

  it('reports every problem, in one line each', async () => {
    // Other hosts can connect, so a credential is required.
    const environment = { HOST: '0.0.0.0', DATABASE_URL: 'sqlite:none/plants.db' };
    const { exitCode, stderr } = await run({ ...environment, ACCESS_TOKEN: 'canary', log_levle: 'x' });
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
    const result = await run({ DATABASE_URL: 'sqlite:none/plants.db', PART: '1', HOSTS: 'a', DATABASE: 'x' });
    expect(result.exitCode).to.equal(1);
    expect(toLines(result.stderr)).to.have.lengthOf(1);
  });
});
