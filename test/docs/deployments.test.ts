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
  const compose = parse(read('compose.yaml')).services['plant-store'];
  const folder = temporaryFolder();
  const { shutdownTimeoutMs, port, managementPort } = readConfig({});

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

  it('use the ports of the service, and wait for its shutdown', () => {
    const exposed = /^EXPOSE (\d+) (\d+)$/m.exec(image)?.slice(1).map(Number);
    expect(exposed).to.deep.equal([port, managementPort]);
    expect(read('nginx.conf')).to.include(`server 127.0.0.1:${port} `);
    expect(settings.shutdownTimeoutMs.parse(compose.stop_grace_period)).to.be.above(shutdownTimeoutMs);
  });
});
