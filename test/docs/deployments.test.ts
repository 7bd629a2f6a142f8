import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { parse } from 'yaml';
import { readConfig } from '../../composition/config.js';
import { settings } from '../../composition/settings.js';
import { inRepository } from '../support/paths.js';

const readText = (path: string) => readFileSync(inRepository(path), 'utf8');
const read = (name: string) => readText(`docs/operate/${name}`);

describe('The deployments in docs/operate', () => {
  const unit = read('plant-store@.service');
  const { services, secrets } = parse(read('compose.yaml'));
  const compose = services['plant-store'];
  const { spec: pod } = parse(read('kubernetes.yaml').split('---')[0] ?? '').spec.template;
  const [container] = pod.containers;
  const defaults = readConfig({});
  const toPairs = (text = '') => text.split(' ').map((assignment) => assignment.split('='));

  it('set only variables that the service knows, to valid values', () => {
    const ofImage = Object.fromEntries(toPairs(/^ENV (.*)$/m.exec(readText('Containerfile'))?.[1]));
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

  it('have the limits of the service, and wait longer than it does', () => {
    const settingOf = (text: string, directive: string) => RegExp(`\\b${directive}[ =](\\w+)`).exec(text)?.[1] ?? '';
    const { parse: toMs } = settings.shutdownTimeoutMs;
    const { shutdownTimeoutMs, storageTimeoutMs, keepAliveTimeoutMs, requestTimeoutMs } = defaults;
    expect(toMs(compose.stop_grace_period)).to.be.above(shutdownTimeoutMs);
    expect(toMs(settingOf(unit, 'TimeoutStopSec'))).to.be.above(shutdownTimeoutMs);
    const pauseMs = 1000 * container.lifecycle.preStop.sleep.seconds;
    expect(1000 * pod.terminationGracePeriodSeconds).to.be.above(pauseMs + shutdownTimeoutMs);
    for (const [proxy, keepAlive, response] of [
      ['nginx.conf', 'keepalive_timeout', 'proxy_read_timeout'],
      ['Caddyfile', 'keepalive', 'response_header_timeout'],
    ] as const) {
      expect(toMs(settingOf(read(proxy), keepAlive)), proxy).to.be.below(keepAliveTimeoutMs);
      expect(toMs(settingOf(read(proxy), response)), proxy).to.be.above(storageTimeoutMs);
    }
    expect(toMs(settingOf(read('Caddyfile'), 'read_body'))).to.be.above(requestTimeoutMs);
    const bodyLimit = `${settingOf(read('nginx.conf'), 'client_max_body_size')}b`;
    expect(settings.bodyLimitBytes.parse(bodyLimit)).to.equal(defaults.bodyLimitBytes);
  });

  it('keep the secrets out of git and of the image', () => {
    for (const { file } of Object.values<{ file: string }>(secrets)) expect(file).to.match(/^secrets\//);
    expect(readText('.dockerignore').split('\n')).to.include('secrets');
    expect(readText('.gitignore').split('\n')).to.include('/secrets/');
  });
});
