import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { parse } from 'yaml';
import { readConfig } from '../../../composition/config.js';
import { settings } from '../../../composition/settings.js';
import { inRepository } from '../../support/paths.js';

const readText = (path: string) => readFileSync(inRepository(path), 'utf8');
const read = (name: string) => readText(`docs/operate/${name}`);

describe('The deployments in docs/operate', () => {
  const { services, secrets } = parse(read('compose.yaml'));
  const compose = services['plant-store'];
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
    const service = readConfig({});
    const graceSeconds = pod.terminationGracePeriodSeconds - container.lifecycle.preStop.sleep.seconds;
    for (const [timeout, limitMs] of [
      [compose.stop_grace_period, service.shutdownTimeoutMs],
      [settingOf('plant-store@.service', 'TimeoutStopSec'), service.shutdownTimeoutMs],
      [`${graceSeconds}s`, service.shutdownTimeoutMs],
      [settingOf('nginx.conf', 'proxy_read_timeout'), service.storageTimeoutMs],
      [settingOf('Caddyfile', 'response_header_timeout'), service.storageTimeoutMs],
      [settingOf('Caddyfile', 'read_body'), service.requestTimeoutMs],
    ])
      expect(toMs(timeout)).to.be.above(limitMs);
    for (const timeout of [settingOf('nginx.conf', 'keepalive_timeout'), settingOf('Caddyfile', 'keepalive')])
      expect(toMs(`${timeout}`)).to.be.below(service.keepAliveTimeoutMs);
    const bodyLimit = `${settingOf('nginx.conf', 'client_max_body_size')}b`;
    expect(settings.bodyLimitBytes.parse(bodyLimit)).to.equal(service.bodyLimitBytes);
  });

  it('keep the secrets of compose.yaml out of git and of the image', () => {
    for (const { file } of Object.values<{ file: string }>(secrets)) expect(file).to.match(/^secrets\//);
    expect(readText('.dockerignore').split('\n')).to.include('secrets');
    expect(readText('.gitignore').split('\n')).to.include('/secrets/');
  });

  it('change what nginx.conf contains: the address of the service, and the log files', () => {
    const changes = services.nginx.command.at(-1).matchAll(/ -e s(\W)(.+?)\1/g);
    const changed = Array.from(changes, ([, , text]) => text);
    expect(changed).to.have.lengthOf(3);
    for (const text of changed) expect(read('nginx.conf')).to.include(text);
  });
});
