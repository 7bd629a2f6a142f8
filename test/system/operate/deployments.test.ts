import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { parse } from 'yaml';
import { create, serve } from '../../support/client.js';
import { databasesOn, postgresServer } from '../../support/database-servers.js';
import { runCommands } from '../../support/guide.js';
import { inRepository } from '../../support/paths.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { temporaryFolder } from '../../support/temporary.js';

const read = (name: string) => readFileSync(inRepository(`docs/operate/${name}`), 'utf8');

describe('compose.yaml', () => {
  const folder = temporaryFolder();
  const databases = databasesOn(postgresServer);
  // Unique, because users belong to the whole server.
  const name = `plants_${process.pid}`;
  afterEach(async () => {
    const admin = databases.connect();
    await admin.raw(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await admin.raw(`DROP ROLE IF EXISTS ${name}`);
  });

  it('has secrets with which the service creates plants, as a user without other privileges', async function () {
    for (const program of ['psql', 'openssl']) skipUnlessInstalled(this, program, '--help');
    const secrets = join(folder, 'secrets');
    mkdirSync(secrets);
    const prepare = [...read('compose.yaml').matchAll(/^# {3}((?:openssl|echo) .*)$/gm)].map(([, line]) => line);
    await runCommands(prepare.join('\n'), secrets, {});
    const script = read('create-database.sql').replaceAll('/run/secrets', secrets);
    writeFileSync(join(folder, 'create-database.sql'), script.replaceAll(/ plants\b/g, ` ${name}`));
    // As the entry point of the image does.
    const options = '--no-psqlrc --quiet --set=ON_ERROR_STOP=1';
    await runCommands(`psql ${options} --file=create-database.sql "$SERVER"`, folder, { SERVER: postgresServer.url });
    const columns = ['rolsuper', 'rolcreaterole', 'rolcreatedb', 'rolreplication', 'rolbypassrls'];
    const [role] = await databases.connect()('pg_roles').where({ rolname: name }).select(columns);
    expect(Object.values(role)).to.deep.equal(columns.map(() => false));
    const url = new URL(readFileSync(join(secrets, 'database-url'), 'utf8').trim());
    Object.assign(url, { host: new URL(postgresServer.url).host, username: name, pathname: `/${name}` });
    const service = serve(folder, { DATABASE_URL: url.href });
    expect((await create(await service.port(), { id: 1n, name: 'Monstera' }))?.outcome).to.equal(200);
    await service.stop();
  });

  it('changes nginx.conf: the name of the service, and logs that Docker collects', () => {
    const [command = ''] = parse(read('compose.yaml')).services.nginx.command.at(-1).split(' > ');
    const path = inRepository('docs/operate/nginx.conf');
    const { stdout } = spawnSync('sh', ['-c', command.replace('/run/plant-store.conf', path)], { encoding: 'utf8' });
    const unchanged = read('nginx.conf').split('\n');
    expect(stdout.split('\n').filter((line) => !unchanged.includes(line))).to.deep.equal([
      '  server plant-store:3000 max_fails=0;',
      '  access_log /dev/stdout plant_store;',
      '  error_log /dev/stderr crit;',
    ]);
  });
});
