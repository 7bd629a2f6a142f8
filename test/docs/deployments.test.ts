import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig, settings } from '../../composition/config.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';

const read = (name: string) => readFileSync(inRepository(`docs/operate/${name}`), 'utf8');

describe('The deployments in docs/operate', () => {
  const image = read('Containerfile');
  const { services, secrets, networks } = parse(read('compose.yaml'));
  const compose = services['plant-store'];
  const [deployment, service, policy, budget] = parseAllDocuments(read('kubernetes.yaml')).map((each) => each.toJS());
  const pod = deployment.spec.template.spec;
  const [container] = pod.containers;
  const environments: Readonly<Record<string, string>>[] = [
    compose.environment,
    Object.fromEntries(container.env.map(({ name, value }: { name: string; value: string }) => [name, value])),
  ];
  const folder = temporaryFolder();
  const { shutdownTimeoutMs, port, managementPort } = readConfig({});

  it('read the tokens and the URL from files of the secrets', () => {
    const files = environments.map((each) => [each['ACCESS_TOKENS_FILE'], each['DATABASE_URL_FILE']]);
    const [{ mountPath }] = container.volumeMounts;
    const toPaths = (folder: string) => compose.secrets.map((name: string) => `${folder}/${name}`);
    expect(files).to.deep.equal([toPaths('/run/secrets'), toPaths(mountPath)]);
    for (const { secrets: used = [] } of Object.values<{ secrets?: string[] }>(services))
      expect(secrets).to.include.all.keys(...used, 'tokens');
  });

  it('set only variables that the service knows, to valid values together with those of the image', () => {
    const known = Object.values(settings).map(({ variable }) => variable);
    const [, assignments = ''] = /^ENV (.*)$/m.exec(image) ?? [];
    const ofImage = Object.fromEntries(assignments.split(' ').map((assignment) => assignment.split('=')));
    writeFileSync(join(folder, 'tokens'), `${'0'.repeat(24)}\n`);
    writeFileSync(join(folder, 'database-url'), 'postgres://plants:secret@postgres/plants\n');
    for (const environment of environments) {
      expect(known).to.include.members(Object.keys(environment));
      const toLocal = (name: string, value: string) => (name.endsWith('_FILE') ? join(folder, basename(value)) : value);
      const local = Object.entries(environment).map(([name, value]) => [name, toLocal(name, value)]);
      const { effective } = readConfig({ ...ofImage, ...Object.fromEntries(local) });
      expect(effective.join('\n')).to.include('DATABASE_URL_FILE').and.not.include('sqlite:');
    }
  });

  it('keep the secrets out of git and of the image', () => {
    const files = Object.values<{ file: string }>(secrets).map(({ file }) => file);
    const keys = services.nginx.volumes.filter((volume: string) => volume.includes('/ssl/'));
    for (const path of [...files, ...keys]) expect(path).to.match(/^(\.\/)?secrets\//);
    expect(read('Containerfile.dockerignore').split('\n')).to.include('secrets');
    expect(readFileSync(inRepository('.gitignore'), 'utf8').split('\n')).to.include('/secrets/');
  });

  it('give only the service access to the database, and to the management port only probes and one namespace', () => {
    const members = (network: string) =>
      Object.keys(services).filter((name) => services[name].networks.includes(network));
    const expected = ['nginx', 'postgres'].map((other) => ['plant-store', other]);
    expect(Object.keys(networks).map(members)).to.deep.equal(expected);
    for (const name of ['plant-store', 'postgres']) expect(services[name]).not.to.have.property('ports');
    const [http, management] = container.ports.map(({ name }: { name: string }) => ({ port: name }));
    const [open, restricted, ...others] = policy.spec.ingress;
    expect(open).to.deep.equal({ ports: [http] });
    expect(restricted.ports).to.deep.equal([management]);
    expect(restricted.from.map(Object.keys)).to.deep.equal([['namespaceSelector']]);
    expect(others).to.deep.equal([]);
  });

  it('wait for a shutdown, after a pause in which Kubernetes removes the address', () => {
    const [, pause] = container.lifecycle.preStop.exec.command;
    expect(pod.terminationGracePeriodSeconds * 1000).to.be.above(Number(pause) * 1000 + shutdownTimeoutMs);
    expect(settings.shutdownTimeoutMs.parse(compose.stop_grace_period)).to.be.above(shutdownTimeoutMs);
  });

  it('use the ports and the user of the image', () => {
    const exposed = /^EXPOSE (\d+) (\d+)$/m.exec(image)?.slice(1).map(Number);
    expect(exposed).to.deep.equal([port, managementPort]);
    expect(container.ports.map(({ containerPort }: { containerPort: number }) => containerPort)).to.deep.equal(exposed);
    expect(image).to.include(`USER ${pod.securityContext.fsGroup}:${pod.securityContext.fsGroup}`);
    const paths = ['livenessProbe', 'startupProbe', 'readinessProbe'].map((probe) => container[probe].httpGet);
    expect(paths.map(({ path }) => path)).to.deep.equal(['/healthz', '/healthz', '/readyz']);
    for (const { port: name } of paths) expect(name).to.equal(container.ports[1].name);
    expect(service.spec.ports[0].targetPort).to.equal(container.ports[0].name);
    expect(read('nginx.conf')).to.include(`server 127.0.0.1:${port} `);
  });

  it('select the same pods', () => {
    const { labels } = deployment.spec.template.metadata;
    const [ofDeployment, ofBudget] = [deployment, budget].map(({ spec }) => spec.selector.matchLabels);
    for (const selector of [ofDeployment, service.spec.selector, policy.spec.podSelector.matchLabels, ofBudget])
      expect(selector).to.deep.equal(labels);
    expect(deployment.spec.replicas).to.be.above(budget.spec.minAvailable);
  });
});
