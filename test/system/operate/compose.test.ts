import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { parse } from 'yaml';
import { create, serve } from '../../support/client.js';
import { databasesOn, postgresServer } from '../../support/database-servers.js';
import { inRepository } from '../../support/paths.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { temporaryFolder } from '../../support/temporary.js';
import { run } from './guide.js';

const read = (name: string) => readFileSync(inRepository(`docs/operate/${name}`), 'utf8');

describe('The database of compose.yaml', () => {
  const folder = temporaryFolder();
  const databases = databasesOn(postgresServer);
  // Unique, because users belong to the whole server.
  const name = `plants_${process.pid}`;
  afterEach(async () => {
    const admin = databases.connect();
    await admin.raw(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await admin.raw(`DROP ROLE IF EXISTS ${name}`);
  });

  it('belongs to a user without other privileges, with whom the service creates plants', async function () {
    skipUnlessInstalled(this, 'psql', '--version');
    skipUnlessInstalled(this, 'openssl', 'version');
    const compose = read('compose.yaml');
    const secrets = join(folder, 'secrets');
    mkdirSync(secrets);
    const prepare = [...compose.matchAll(/^# {3}((?:openssl|echo) .*)$/gm)].map(([, line]) => line).join('\n');
    await run(prepare, secrets, {});
    const password = readFileSync(join(secrets, 'plants-password'), 'utf8').trim();
    expect(readFileSync(join(secrets, 'postgres-password'), 'utf8')).not.to.include(password);

    const { volumes, secrets: mounted } = parse(compose).services.postgres;
    expect(mounted).to.include('plants-password');
    expect(volumes).to.include('./docs/operate/create-database.sql:/docker-entrypoint-initdb.d/create-database.sql:ro');
    const script = read('create-database.sql')
      .replaceAll('/run/secrets', secrets)
      .replaceAll(/ plants\b/g, ` ${name}`);
    writeFileSync(join(folder, 'create-database.sql'), script);
    // As the entry point of the image does.
    const options = '--no-psqlrc --quiet --set=ON_ERROR_STOP=1';
    await run(`psql ${options} --file=create-database.sql "$SERVER"`, folder, { SERVER: postgresServer.url });

    const columns = ['rolsuper', 'rolcreaterole', 'rolcreatedb', 'rolreplication', 'rolbypassrls'];
    const [role] = await databases.connect()('pg_roles').where({ rolname: name }).select(columns);
    expect(Object.values(role)).to.deep.equal(columns.map(() => false));
    const url = new URL(readFileSync(join(secrets, 'database-url'), 'utf8').trim());
    expect([url.protocol, url.username, url.password, url.pathname]).to.deep.equal([
      ...['postgres:', 'plants', password, '/plants'],
    ]);
    const { host } = new URL(postgresServer.url);
    Object.assign(url, { host, username: name, pathname: `/${name}` });
    const service = serve(folder, { DATABASE_URL: url.href });
    expect((await create(await service.port(), { id: 1n, name: 'Monstera' }))?.outcome).to.equal(200);
    await service.stop();
  });
});

describe('The nginx of compose.yaml', () => {
  it('changes the nginx.conf of a machine: the name of the service, and logs that Docker collects', () => {
    const [command = ''] = parse(read('compose.yaml')).services.nginx.command.at(-1).split(' > ');
    const path = inRepository('docs/operate/nginx.conf');
    const { stdout } = spawnSync('sh', ['-c', command.replace('/run/plant-store.conf', path)], { encoding: 'utf8' });
    const unchanged = read('nginx.conf').split('\n');
    expect(stdout.split('\n').filter((line) => !unchanged.includes(line))).to.deep.equal([
      '  server plant-store:3000 max_fails=0;',
      '  access_log /dev/stdout plant_store;',
      '  error_log /dev/stderr crit;',
    ]);
    expect(stdout).not.to.include('/var/log');
  });
});
