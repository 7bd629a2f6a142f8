import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { parse } from 'yaml';
import { create, serve } from '../support/client.js';
import { postgresEngine } from '../support/engines.js';
import { CLI } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { exchange, request } from '../support/raw-http.js';
import { TOKEN } from '../support/service.js';
import { skipUnless } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';
import { installed, outputOf } from './interop.js';

const MANIFEST = readFileSync(inRepository('docs/operate/kubernetes.yaml'), 'utf8');
/** Reads the documents as kubectl does, in YAML 1.1, where 0440 is an octal number. */
const [deployment, budget, service] = MANIFEST.split(/^---$/m).map((text) => parse(text, { version: '1.1' }));
const { metadata, spec: pod } = deployment.spec.template;
const [container] = pod.containers;
const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe];

describe('kubernetes.yaml', () => {
  const folder = temporaryFolder();

  // The documents are literals of Kubernetes' types, in which TypeScript rejects any other field.
  it('has the fields and types of the Kubernetes API', () => {
    symlinkSync(installed('.'), join(folder, 'node_modules'));
    const lines = [deployment, budget, service].map((document, index) => {
      const { apiVersion, kind } = document;
      const type = `import('kubernetes-models/${apiVersion}').I${kind}`;
      return `export const document${index}: ${type} = ${JSON.stringify(document)};\n`;
    });
    writeFileSync(join(folder, 'documents.ts'), lines.join(''));
    const options = '--noEmit --strict --skipLibCheck --module nodenext documents.ts'.split(' ');
    outputOf(folder, [process.execPath, installed('typescript/bin/tsc'), ...options]);
  });

  it('selects its own pods, their ports and the files of the Secret', () => {
    const [spread] = pod.topologySpreadConstraints;
    for (const { matchLabels } of [deployment.spec.selector, spread.labelSelector, budget.spec.selector])
      expect(matchLabels).to.deep.equal(metadata.labels);
    expect(service.spec.selector).to.deep.equal(metadata.labels);
    const names = container.ports.map(({ name }: { name: string }) => name);
    for (const { targetPort } of service.spec.ports) expect(names).to.include(targetPort);
    for (const probe of probes) expect(names).to.include(probe.httpGet.port);
    const [mount] = container.volumeMounts;
    expect(pod.volumes[0].name).to.equal(mount.name);
    const matches = (pattern: RegExp) => new Set(Array.from(MANIFEST.matchAll(pattern), ([, name]) => name));
    expect(matches(/--from-file=(\S+)/g)).to.deep.equal(matches(RegExp(`${mount.mountPath}/([\\w.-]+)`, 'g')));
  });
});

describe('A pod of kubernetes.yaml', () => {
  const folder = temporaryFolder();
  const stores = postgresEngine.stores();

  it('reads its Secret, writes no file, passes its probes, survives an outage of the database, and stops', async function () {
    const { runAsUser, runAsGroup, fsGroup } = pod.securityContext;
    const ids = [`--reuid=${runAsUser}`, `--regid=${runAsGroup}`, `--groups=${fsGroup}`];
    const readOnly = ['unshare', '--mount', 'sh', '-ec', 'mount -o remount,bind,ro / && exec "$@"', 'sh'];
    const wrapper = [...readOnly, 'setpriv', ...ids, '--bounding-set=-all', '--no-new-privs'];
    const { status } = spawnSync('env', [...wrapper, 'test', '-r', CLI]);
    skipUnless(this, status === 0, 'root, and a repository that user 1000 can read', true);

    const store = await stores.createFragile();
    // As the kubelet mounts a Secret: links into a folder that it replaces as a whole.
    const secrets = join(folder, 'secrets');
    mkdirSync(join(secrets, '..version'), { recursive: true });
    symlinkSync('..version', join(secrets, '..data'));
    chmodSync(folder, 0o755);
    for (const [name, text] of Object.entries({ tokens: `ali=${TOKEN}\n`, 'database-url': `${store.url}\n` })) {
      const path = join(secrets, '..version', name);
      writeFileSync(path, text, { mode: pod.volumes[0].secret.defaultMode });
      chownSync(path, 0, fsGroup);
      symlinkSync(`..data/${name}`, join(secrets, name));
    }
    const { mountPath } = container.volumeMounts[0];
    const environment = Object.fromEntries(
      container.env.map(({ name, value }: Record<string, string>) => [name, value?.replace(mountPath, secrets)]),
    );
    const program = serve(folder, { ...environment, ACCESS_TOKENS: '', MANAGEMENT_PORT: '0' }, wrapper);
    const managementPort = await program.managementPort();
    const statusOf = async ({ httpGet }: { httpGet: { path: string } }) =>
      (await exchange(managementPort, request(`GET ${httpGet.path}`)))?.status;

    expect((await create(await program.port(), { id: 1n, name: 'Monstera' }))?.outcome).to.equal(200);
    for (const probe of probes) expect(await statusOf(probe)).to.equal(200);
    const { readinessProbe, livenessProbe } = container;
    await store.whileUnavailable(async () => {
      await waitUntil('the pod is not ready', async () => (await statusOf(readinessProbe)) === 503);
      expect(await statusOf(livenessProbe)).to.equal(200);
    });
    await waitUntil('the pod is ready', async () => (await statusOf(readinessProbe)) === 200);
    expect(await program.stop()).to.equal(0);
  });
});
