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
  const guide = readFileSync(inRepository('docs/operate.md'), 'utf8');
  const [dockerRun = ''] = /^docker run -d [\s\S]*?plant-store$/m.exec(guide) ?? [];
  const flag = (name: string) => RegExp(`${name} (\\S+)`).exec(dockerRun)?.[1];
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

  it('have the limits of the guide', () => {
    expect(compose).to.deep.include({
      mem_limit: flag('--memory'),
      restart: flag('--restart'),
      stop_grace_period: `${flag('--stop-timeout')}s`,
      read_only: dockerRun.includes('--read-only'),
      cap_drop: [flag('--cap-drop')],
    });
    expect(compose.security_opt).to.deep.equal([`${flag('--security-opt')}:true`]);
    expect(`${container.resources.limits.memory}`.toLowerCase()).to.equal(`${flag('--memory')}i`);
    expect(container.securityContext).to.deep.include({
      readOnlyRootFilesystem: true,
      capabilities: { drop: [flag('--cap-drop')] },
    });
    for (const { MAX_IN_FLIGHT_BYTES } of environments)
      expect(`MAX_IN_FLIGHT_BYTES=${MAX_IN_FLIGHT_BYTES}`).to.equal(flag('-e'));
  });

  it('set only variables that the service knows, to files of the secrets', () => {
    const known = Object.values(settings).map(({ variable }) => variable);
    for (const environment of environments) expect(known).to.include.members(Object.keys(environment));
    const files = environments.map((each) => [each['ACCESS_TOKENS_FILE'], each['DATABASE_URL_FILE']]);
    const [{ mountPath }] = container.volumeMounts;
    const toPaths = (folder: string) => compose.secrets.map((name: string) => `${folder}/${name}`);
    expect(files).to.deep.equal([toPaths('/run/secrets'), toPaths(mountPath)]);
    for (const { secrets: used = [] } of Object.values<{ secrets?: string[] }>(services))
      expect(secrets).to.include.all.keys(...used, 'tokens');
  });

  it('are valid settings together with the variables of the image', () => {
    const [, assignments = ''] = /^ENV (.*)$/m.exec(image) ?? [];
    const ofImage = Object.fromEntries(assignments.split(' ').map((assignment) => assignment.split('=')));
    writeFileSync(join(folder, 'tokens'), `${'0'.repeat(24)}\n`);
    writeFileSync(join(folder, 'database-url'), 'postgres://plants:secret@postgres/plants\n');
    for (const environment of environments) {
      const mounted = Object.entries(environment).map(([name, value]) => [
        name,
        name.endsWith('_FILE') ? join(folder, basename(value)) : value,
      ]);
      const { effective } = readConfig({ ...ofImage, ...Object.fromEntries(mounted) });
      expect(effective.join('\n')).to.include('DATABASE_URL_FILE').and.not.include('sqlite:');
    }
  });

  it('keep the secrets out of git and of the image', () => {
    const paths = [
      ...Object.values<{ file: string }>(secrets).map(({ file }) => file),
      ...services.nginx.volumes.filter((volume: string) => volume.includes('/ssl/')),
    ];
    for (const path of paths) expect(path).to.match(/^(\.\/)?secrets\//);
    expect(read('Containerfile.dockerignore').split('\n')).to.include('secrets');
    expect(readFileSync(inRepository('.gitignore'), 'utf8').split('\n')).to.include('/secrets/');
  });

  it('start every container again after a reboot, and rotate its log', () => {
    for (const each of Object.values(services))
      expect(each).to.deep.include({ restart: flag('--restart'), logging: compose.logging });
    expect(compose.logging.options).to.have.property('max-size');
  });

  it('give only the service access to the database, and to the management port only probes and one namespace', () => {
    const members = (network: string) =>
      Object.keys(services).filter((name) => services[name].networks.includes(network));
    expect(Object.keys(networks).map(members)).to.deep.equal([
      ['plant-store', 'nginx'],
      ['plant-store', 'postgres'],
    ]);
    for (const name of ['plant-store', 'postgres']) expect(services[name]).not.to.have.property('ports');
    const [http, management] = container.ports.map(({ name }: { name: string }) => ({ port: name }));
    const [open, restricted, ...others] = policy.spec.ingress;
    expect(open).to.deep.equal({ ports: [http] });
    expect(restricted.ports).to.deep.equal([management]);
    expect(restricted.from).to.have.length(1);
    expect(restricted.from[0]).to.have.nested.property('namespaceSelector.matchLabels');
    expect(others).to.deep.equal([]);
    expect(policy.spec.policyTypes).to.deep.equal(['Ingress']);
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
    const selectors = [
      deployment.spec.selector.matchLabels,
      service.spec.selector,
      policy.spec.podSelector.matchLabels,
      budget.spec.selector.matchLabels,
    ];
    for (const selector of selectors) expect(selector).to.deep.equal(labels);
    expect(deployment.spec.replicas).to.be.above(budget.spec.minAvailable);
  });
});
