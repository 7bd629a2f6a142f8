import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { parse } from 'yaml';
import { readConfig } from '../../../composition/config.js';
import { settings } from '../../../composition/settings.js';
import { create, serve } from '../../support/client.js';
import { postgresEngine } from '../../support/engines.js';
import { runCommands } from '../../support/guide.js';
import { inRepository } from '../../support/paths.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { temporaryFolder } from '../../support/temporary.js';

const readText = (path: string) => readFileSync(inRepository(path), 'utf8');
const read = (name: string) => readText(`docs/operate/${name}`);
const { services, secrets } = parse(read('compose.yaml'));
const compose = services['plant-store'];

describe('The deployments in docs/operate', () => {
  const { spec: pod } = parse(read('kubernetes.yaml').split('---')[0] ?? '').spec.template;
  const [container] = pod.containers;

  it('set only variables that the service knows, to valid values', () => {
    /** Returns the variables in lines such as `ENV HOST=0.0.0.0 PORT=3000`. */
    const variablesIn = (text: string, line: RegExp) => {
      const assignments = `${text.match(line)?.join(' ')}`.matchAll(/\b([A-Z_]+)=(\S+)/g);
      return Object.fromEntries(Array.from(assignments, ([, name, value]) => [name, value?.replace('%i', '1')]));
    };
    const known = ['NODE_ENV', 'NODE_EXTRA_CA_CERTS', ...Object.values(settings).map(({ variable }) => variable)];
    for (const variables of [
      variablesIn(readText('Containerfile'), /^ENV .*/gm),
      variablesIn(read('plant-store@.service') + read('environment'), /^Environment=.*|^#?[A-Z_]+=.*/gm),
      compose.environment,
      Object.fromEntries(container.env.map(({ name, value }: Record<string, string>) => [name, value])),
    ]) {
      expect(known).to.include.members(Object.keys(variables));
      readConfig(Object.fromEntries(Object.entries<string>(variables).filter(([name]) => !name.endsWith('_FILE'))));
    }
  });

  it('have the limits of the service, and wait longer than it does', () => {
    const settingOf = (file: string, name: string) => RegExp(`\\b${name}[ =](\\w+)`).exec(read(file))?.[1];
    const { parse: toMs } = settings.shutdownTimeoutMs;
    const { shutdownTimeoutMs, storageTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, bodyLimitBytes } = readConfig(
      {},
    );
    const graceSeconds = pod.terminationGracePeriodSeconds - container.lifecycle.preStop.sleep.seconds;
    for (const [timeout, limitMs] of [
      [compose.stop_grace_period, shutdownTimeoutMs],
      [settingOf('plant-store@.service', 'TimeoutStopSec'), shutdownTimeoutMs],
      [`${graceSeconds}s`, shutdownTimeoutMs],
      [settingOf('nginx.conf', 'proxy_read_timeout'), storageTimeoutMs],
      [settingOf('Caddyfile', 'response_header_timeout'), storageTimeoutMs],
      [settingOf('Caddyfile', 'read_body'), requestTimeoutMs],
    ])
      expect(toMs(timeout)).to.be.above(limitMs);
    for (const timeout of [settingOf('nginx.conf', 'keepalive_timeout'), settingOf('Caddyfile', 'keepalive')])
      expect(toMs(`${timeout}`)).to.be.below(keepAliveTimeoutMs);
    const bodyLimit = `${settingOf('nginx.conf', 'client_max_body_size')}b`;
    expect(settings.bodyLimitBytes.parse(bodyLimit)).to.equal(bodyLimitBytes);
  });
});

describe('compose.yaml', () => {
  const folder = temporaryFolder();
  const { admin } = postgresEngine.stores();
  // Unique, because users belong to the whole server.
  const name = `plants_${process.pid}`;
  afterEach(async () => {
    await admin.raw(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await admin.raw(`DROP ROLE IF EXISTS ${name}`);
  });

  it('has secrets with which the service creates plants, as a user without other privileges', async function () {
    for (const program of ['psql', 'openssl']) skipUnlessInstalled(this, program, '--help');
    const folderOfSecrets = join(folder, 'secrets');
    mkdirSync(folderOfSecrets);
    const prepare = read('compose.yaml').match(/(?<=^# {3})(openssl|echo) .*/gm);
    await runCommands(prepare?.join('\n'), folderOfSecrets, {});
    const script = read('create-database.sql').replaceAll('/run/secrets', folderOfSecrets);
    writeFileSync(join(folder, 'create-database.sql'), script.replaceAll(/ plants\b/g, ` ${name}`));
    // As the entry point of the image does.
    const options = '--no-psqlrc --quiet --set=ON_ERROR_STOP=1';
    await runCommands(`psql ${options} --file=create-database.sql "$SERVER"`, folder, { SERVER: postgresEngine.url });
    const privileges = ['rolsuper', 'rolcreaterole', 'rolcreatedb', 'rolreplication', 'rolbypassrls'];
    const [role] = await admin('pg_roles').where({ rolname: name }).select(privileges);
    expect(Object.values(role)).to.deep.equal(privileges.map(() => false));
    const url = new URL(readFileSync(join(folderOfSecrets, 'database-url'), 'utf8').trim());
    Object.assign(url, { host: new URL(postgresEngine.url).host, username: name, pathname: `/${name}` });
    const service = serve(folder, { DATABASE_URL: url.href });
    expect((await create(await service.port(), { id: 1n, name: 'Monstera' }))?.outcome).to.equal(200);
    await service.stop();
  });

  it('keeps the secrets out of git and of the image', () => {
    for (const { file } of Object.values<{ file: string }>(secrets)) expect(file).to.match(/^secrets\//);
    expect(readText('.dockerignore').split('\n')).to.include('secrets');
    expect(readText('.gitignore').split('\n')).to.include('/secrets/');
  });

  it('changes nginx.conf: the name of the service, and logs that Docker collects', () => {
    const [command = ''] = services.nginx.command.at(-1).split(' > ');
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
