import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { parse } from 'yaml';
import { readConfig, settings } from '../../composition/config.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';

const read = (name: string) => readFileSync(inRepository(`docs/operate/${name}`), 'utf8');

describe('The deployments in docs/operate', () => {
  const image = read('Containerfile');
  const { services, secrets, networks } = parse(read('compose.yaml'));
  const compose = services['plant-store'];
  const folder = temporaryFolder();
  const { shutdownTimeoutMs, port, managementPort } = readConfig({});

  it('read the tokens and the URL from files of the secrets', () => {
    const { ACCESS_TOKENS_FILE, DATABASE_URL_FILE } = compose.environment;
    const paths = compose.secrets.map((name: string) => `/run/secrets/${name}`);
    expect([ACCESS_TOKENS_FILE, DATABASE_URL_FILE]).to.deep.equal(paths);
    for (const { secrets: used = [] } of Object.values<{ secrets?: string[] }>(services))
      expect(secrets).to.include.all.keys(...used, 'tokens');
  });

  it('set only variables that the service knows, to valid values together with those of the image', () => {
    const known = Object.values(settings).map(({ variable }) => variable);
    const [, assignments = ''] = /^ENV (.*)$/m.exec(image) ?? [];
    const ofImage = Object.fromEntries(assignments.split(' ').map((assignment) => assignment.split('=')));
    const url = 'postgres://plants:secret@postgres/plants';
    writeFileSync(join(folder, 'database-url'), `${url}\n`);
    const environment: Readonly<Record<string, string>> = compose.environment;
    expect(known).to.include.members(Object.keys(environment));
    const toLocal = (name: string, value: string) => (name.endsWith('_FILE') ? join(folder, basename(value)) : value);
    const local = Object.entries(environment).map(([name, value]) => [name, toLocal(name, value)]);
    expect(readConfig({ ...ofImage, ...Object.fromEntries(local) })).to.include({ database: url });
  });

  it('keep the secrets out of git and of the image', () => {
    const files = Object.values<{ file: string }>(secrets).map(({ file }) => file);
    const keys = services.nginx.volumes.filter((volume: string) => volume.includes('/ssl/'));
    for (const path of [...files, ...keys]) expect(path).to.match(/^(\.\/)?secrets\//);
    expect(read('Containerfile.dockerignore').split('\n')).to.include('secrets');
    expect(readFileSync(inRepository('.gitignore'), 'utf8').split('\n')).to.include('/secrets/');
  });

  it('give only the service access to the database', () => {
    const members = (network: string) =>
      Object.keys(services).filter((name) => services[name].networks.includes(network));
    const expected = ['nginx', 'postgres'].map((other) => ['plant-store', other]);
    expect(Object.keys(networks).map(members)).to.deep.equal(expected);
    for (const name of ['plant-store', 'postgres']) expect(services[name]).not.to.have.property('ports');
  });

  it('use the ports of the service, and wait for its shutdown', () => {
    const exposed = /^EXPOSE (\d+) (\d+)$/m.exec(image)?.slice(1).map(Number);
    expect(exposed).to.deep.equal([port, managementPort]);
    expect(read('nginx.conf')).to.include(`server 127.0.0.1:${port} `);
    expect(settings.shutdownTimeoutMs.parse(compose.stop_grace_period)).to.be.above(shutdownTimeoutMs);
  });
});
