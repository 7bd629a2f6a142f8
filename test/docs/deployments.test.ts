import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { parse } from 'yaml';
import { readConfig, settings } from '../../composition/config.js';
import { inRepository } from '../support/paths.js';

const readText = (path: string) => readFileSync(inRepository(path), 'utf8');
const read = (name: string) => readText(`docs/operate/${name}`);

describe('The deployments in docs/operate', () => {
  const [image, unit] = [readText('Containerfile'), read('plant-store@.service')];
  const [proxy, caddyfile] = [read('nginx.conf'), read('Caddyfile')];
  const { services, secrets } = parse(read('compose.yaml'));
  const compose = services['plant-store'];
  const { spec: pod } = parse(read('kubernetes.yaml').split('---')[0] ?? '').spec.template;
  const [container] = pod.containers;
  const defaults = readConfig({});
  const toPairs = (text = '') => text.split(' ').map((assignment) => assignment.split('='));

  it('set only variables that the service knows, to valid values', () => {
    const ofImage = Object.fromEntries(toPairs(/^ENV (.*)$/m.exec(image)?.[1]));
    const ofUnit = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, text]) => toPairs(text));
    const ofFile = [...read('environment').matchAll(/^#?([A-Z_]+=.*)$/gm)].flatMap(([, text]) => toPairs(text));
    const ofPod = Object.fromEntries(container.env.map(({ name, value }: Record<string, string>) => [name, value]));
    const known = ['NODE_ENV', 'NODE_EXTRA_CA_CERTS', ...Object.values(settings).map(({ variable }) => variable)];
    for (const assigned of [ofImage, compose.environment, ofPod, Object.fromEntries([...ofUnit, ...ofFile])]) {
      expect(known).to.include.members(Object.keys(assigned));
      const values = Object.entries<string>(assigned).map(([name, value]) => [name, value.replaceAll('%i', '1')]);
      readConfig(Object.fromEntries(values.filter(([name = '']) => !name.endsWith('_FILE'))));
    }
  });

  it('use the ports of the service, two per instance of the unit', () => {
    expect(image).to.include(`EXPOSE ${defaults.port} ${defaults.managementPort}\n`);
    expect(container.ports).to.deep.equal([
      { name: 'http', containerPort: defaults.port },
      { name: 'management', containerPort: defaults.managementPort },
    ]);
    const [, first, second] = / PORT=(\S+) MANAGEMENT_PORT=(\S+)/.exec(unit) ?? [];
    const portsOf = (instance: number) => [first, second].map((each) => Number(each?.replaceAll('%i', `${instance}`)));
    expect(portsOf(0)).to.deep.equal([defaults.port, defaults.managementPort]);
    for (const instance of [0, 1]) expect(proxy).to.include(`server 127.0.0.1:${portsOf(instance)[0]} max_fails=0;`);
    expect(caddyfile).to.include(`reverse_proxy 127.0.0.1:${portsOf(0)[0]} 127.0.0.1:${portsOf(1)[0]} {`);
  });

  it('wait longer than the service, and nginx has its body limit', () => {
    const settingOf = (text: string, directive: string) => RegExp(`\\b${directive}[ =](\\w+)`).exec(text)?.[1] ?? '';
    const { parse: toMs } = settings.shutdownTimeoutMs;
    expect(toMs(compose.stop_grace_period)).to.be.above(defaults.shutdownTimeoutMs);
    expect(toMs(settingOf(unit, 'TimeoutStopSec'))).to.be.above(defaults.shutdownTimeoutMs);
    const pauseSeconds = container.lifecycle.preStop.sleep.seconds;
    expect(pod.terminationGracePeriodSeconds).to.be.above(pauseSeconds + defaults.shutdownTimeoutMs / 1000 + 10);
    const { periodSeconds, failureThreshold } = container.startupProbe;
    expect(periodSeconds * failureThreshold, 'longer than the wait for a database').to.be.above(60);
    expect(toMs(settingOf(proxy, 'keepalive_timeout'))).to.be.below(defaults.keepAliveTimeoutMs);
    expect(toMs(settingOf(proxy, 'proxy_read_timeout'))).to.be.above(defaults.storageTimeoutMs);
    expect(toMs(settingOf(caddyfile, 'read_body'))).to.be.above(defaults.requestTimeoutMs);
    expect(toMs(settingOf(caddyfile, 'keepalive'))).to.be.below(defaults.keepAliveTimeoutMs);
    expect(toMs(settingOf(caddyfile, 'response_header_timeout'))).to.be.above(defaults.storageTimeoutMs);
    const bodyLimit = `${settingOf(proxy, 'client_max_body_size')}b`;
    expect(settings.bodyLimitBytes.parse(bodyLimit)).to.equal(defaults.bodyLimitBytes);
  });

  it('keep the secrets out of git and of the image', () => {
    for (const { file } of Object.values<{ file: string }>(secrets)) expect(file).to.match(/^secrets\//);
    expect(readText('.dockerignore').split('\n')).to.include('secrets');
    expect(readText('.gitignore').split('\n')).to.include('/secrets/');
  });
});
