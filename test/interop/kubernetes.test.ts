import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { parse } from 'yaml';
import { create, serve } from '../support/client.js';
import { type FragileStore, postgresEngine } from '../support/engines.js';
import { CLI, type Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { exchange, request } from '../support/raw-http.js';
import { TOKEN } from '../support/service.js';
import { skipUnless } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';
import { installed } from './interop.js';

const MANIFEST = readFileSync(inRepository('docs/operate/kubernetes.yaml'), 'utf8');
/** Reads the documents as kubectl does, in YAML 1.1, where 0440 is an octal number. */
const toDocuments = (manifest: string) => manifest.split(/^---$/m).map((text) => parse(text, { version: '1.1' }));
const [deployment, budget, service] = toDocuments(MANIFEST);
const { metadata, spec: pod } = deployment.spec.template;
const [container] = pod.containers;
const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe];

describe('kubernetes.yaml', () => {
  const folder = temporaryFolder();

  /** Compiles the documents as literals of Kubernetes' types, in which TypeScript rejects any other field. */
  function findTypeErrors(manifest: string): string {
    const lines = toDocuments(manifest).map((document, index) => {
      const { apiVersion, kind } = document;
      const type = `import('kubernetes-models/${apiVersion}').I${kind}`;
      return `export const document${index}: ${type} = ${JSON.stringify(document)};\n`;
    });
    writeFileSync(join(folder, 'documents.ts'), lines.join(''));
    const options = '--noEmit --strict --skipLibCheck --module nodenext documents.ts'.split(' ');
    const tsc = [installed('typescript/bin/tsc'), ...options];
    return spawnSync(process.execPath, tsc, { cwd: folder, encoding: 'utf8' }).stdout;
  }

  it('has the fields and types of the Kubernetes API, and no mistyped field', () => {
    symlinkSync(installed('.'), join(folder, 'node_modules'));
    expect(findTypeErrors(MANIFEST)).to.equal('');
    const mistyped = MANIFEST.replace('readinessProbe', 'readinesProbe');
    expect(findTypeErrors(mistyped)).to.include(`'"readinesProbe"' does not exist`);
  });

  it('selects its own pods, their ports and the files of the Secret', () => {
    const [spread] = pod.topologySpreadConstraints;
    for (const { matchLabels } of [deployment.spec.selector, spread.labelSelector, budget.spec.selector])
      expect(matchLabels).to.deep.equal(metadata.labels);
    expect(service.spec.selector).to.deep.equal(metadata.labels);
    expect(service.spec.ports.map((port: { targetPort: string }) => port.targetPort)).to.deep.equal(['http']);
    for (const probe of probes) expect(probe.httpGet.port).to.equal('management');
    const [mount] = container.volumeMounts;
    expect(pod.volumes[0].name).to.equal(mount.name);
    const matches = (pattern: RegExp) => new Set(Array.from(MANIFEST.matchAll(pattern), ([, name]) => name));
    expect(matches(/--from-file=(\S+)/g)).to.deep.equal(matches(RegExp(`${mount.mountPath}/([\\w.-]+)`, 'g')));
  });
});

describe('A pod of kubernetes.yaml', () => {
  const folder = temporaryFolder();
  const stores = postgresEngine.stores();
  let store: FragileStore;
  let program: Program;

  before(async function () {
    const { runAsUser, runAsGroup, fsGroup } = pod.securityContext;
    const ids = [`--reuid=${runAsUser}`, `--regid=${runAsGroup}`, `--groups=${fsGroup}`];
    const readOnly = ['unshare', '--mount', 'sh', '-ec', 'mount -o remount,bind,ro / && exec "$@"', 'sh'];
    const wrapper = [...readOnly, 'setpriv', ...ids, '--bounding-set=-all', '--no-new-privs'];
    const { status } = spawnSync('env', [...wrapper, 'test', '-r', CLI]);
    skipUnless(this, status === 0, 'root, and a repository that user 1000 can read', true);

    store = await stores.createFragile();
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
    const environment = Object.fromEntries(
      container.env.map(({ name, value }: { name: string; value: string }) => [
        name,
        value.replace(container.volumeMounts[0].mountPath, secrets),
      ]),
    );
    program = serve(folder, { ...environment, ACCESS_TOKENS: '', MANAGEMENT_PORT: '0' }, wrapper);
  });

  const probe = async ({ httpGet }: { httpGet: { path: string } }) =>
    (await exchange(await program.managementPort(), request(`GET ${httpGet.path}`)))?.status;

  it('reads its Secret, creates plants without a writable file, and passes its probes', async () => {
    expect((await create(await program.port(), { id: 1n, name: 'Monstera' }))?.outcome).to.equal(200);
    for (const each of probes) expect(await probe(each)).to.equal(200);
  });

  it('is not ready but stays alive while the database is down', async () => {
    const { readinessProbe, livenessProbe } = container;
    await store.whileUnavailable(async () => {
      await waitUntil('the pod is not ready', async () => (await probe(readinessProbe)) === 503);
      expect(await probe(livenessProbe)).to.equal(200);
    });
    await waitUntil('the pod is ready', async () => (await probe(readinessProbe)) === 200);
  });

  it('exits with 0 on SIGTERM', async () => {
    expect(await program.stop()).to.equal(0);
  });
});
