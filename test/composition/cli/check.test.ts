import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toLines } from '../../support/client.js';
import { CommandFolder } from '../../support/command-folder.js';

describe('check', () => {
  const folder = new CommandFolder();
  const check = (environment: Readonly<Record<string, string>>) =>
    folder.run(['check'], { DATABASE_URL: 'memory:', ...environment });

  it('prints the settings and what it does not check, but no tokens and no URL of a server or with a secret', async () => {
    const file = folder.newFile('garden://u:canary@db');
    const shown = { PORT: '0', LOG_LEVEL: ' warn', ACCESS_LOG: '', DATABASE_URL_FILE: file };
    const secrets = {
      ACCESS_TOKENS: 'canary',
      JWT_ISSUER: 'urn:issuer#canary',
      JWT_AUDIENCE: 'u:canary@db/plants',
      JWT_JWKS_URL: 'https:issuer.example/keys?key=canary',
    };
    const { stdout } = await check({ ...shown, ...secrets });
    expect(toLines(stdout)).to.include.members([
      ...['PORT=0', 'LOG_LEVEL=warn', 'ACCESS_LOG=on', `DATABASE_URL_FILE=${file}`, 'DATABASE_URL=(not shown)'],
      ...Object.keys(secrets).map((variable) => `${variable}=(not shown)`),
      'not checked: privileges to create plants, and whether the ports are free',
    ]);
    expect(stdout).not.to.match(/canary|BASE_PATH/);
  });

  it('prints what serve would do to the storage, and creates nothing', async () => {
    const database = { DATABASE_URL: 'sqlite:new.db' };
    const { exitCode, stdout, stderr } = await check(database);
    expect([exitCode, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.match(/^DATABASE_URL=sqlite:new\.db$/m);
    const state = /^storage: sqlite:.*, driver \S+; there is no store yet; serve will apply 001_plants\b/m;
    expect(stdout).to.match(state);
    expect(existsSync(join(folder.path, 'new.db'))).to.equal(false);
    const migrated = await folder.run(['migrate'], database);
    expect(migrated.stdout).to.match(/^sqlite:\/.*new\.db: schema created\n$/);
    expect((await check(database)).stdout).to.match(/^storage: sqlite:.*, driver \S+$/m);
  });

  it('reports every problem, in one line each', async () => {
    // Other hosts can connect, so a credential is required.
    const environment = { HOST: '0.0.0.0', DATABASE_URL: 'sqlite:none/plants.db', ACCESS_TOKEN: 'canary' };
    const { exitCode, stderr } = await check({ ...environment, log_levle: 'x' });
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
    const result = await check({ DATABASE_URL: 'sqlite:none/plants.db', PART: '1', HOSTS: 'a', DATABASE: 'x' });
    expect([result.exitCode, toLines(result.stderr).length]).to.deep.equal([1, 1]);
  });
});
