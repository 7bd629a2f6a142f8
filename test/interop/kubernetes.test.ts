import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { parse } from 'yaml';
import { create, exchange, request, serve, TOKEN } from '../support/client.js';
import { postgresEngine } from '../support/engines.js';
import { CLI } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { skipUnless } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { installed, outputOf } from './interop.js';

const manifest = readFileSync(inRepository('docs/operate/kubernetes.yaml'), 'utf8');
/** As kubectl reads it, in YAML 1.1, where 0440 is an octal number. */
const [deployment, budget, service] = manifest.split(/^---$/m).map((text) => parse(text, { version: '1.1' }));
const { spec: pod } = deployment.spec.template;
const [container] = pod.containers;

describe('kubernetes.yaml', () => {
  const folder = temporaryFolder();
  const stores = postgresEngine.stores();

  // The documents are literals of Kubernetes' types, in which TypeScript rejects any other field.
  it('has the fields and types of the Kubernetes API', () => {
    symlinkSync(installed('.'), join(folder, 'node_modules'));
    const lines = [deployment, budget, service].map((document, index) => {
      const type = `import('kubernetes-models/${document.apiVersion}').I${document.kind}`;
      return `export const document${index}: ${type} = ${JSON.stringify(document)};\n`;
    });
    writeFileSync(join(folder, 'documents.ts'), lines.join(''));
    const options = '--noEmit --strict --skipLibCheck --module nodenext documents.ts'.split(' ');
    outputOf(folder, [process.execPath, installed('typescript/bin/tsc'), ...options]);
  });

  it('runs a pod that reads its Secret, writes no file, passes its probes, and stops', async function () {
    const { runAsUser, runAsGroup, fsGroup } = pod.securityContext;
    const readOnly = ['unshare', '--mount', 'sh', '-ec', 'mount -o remount,bind,ro / && exec "$@"', 'sh'];
    const user = ['setpriv', `--reuid=${runAsUser}`, `--regid=${runAsGroup}`, `--groups=${fsGroup}`];
    const wrapper = [...readOnly, ...user, '--bounding-set=-all', '--no-new-privs'];
    const { status } = spawnSync('env', [...wrapper, 'test', '-r', CLI]);
    skipUnless(this, status === 0, 'root, and a repository that user 1000 can read', true);

    // As the kubelet mounts a Secret: links into a folder that it replaces as a whole.
    const store = await stores.create();
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
    const environment: Record<string, string> = { ACCESS_TOKENS: '' };
    for (const { name, value } of container.env)
      environment[name] = value?.replace(container.volumeMounts[0].mountPath, secrets);
    const program = serve(folder, { ...environment, MANAGEMENT_PORT: '0' }, wrapper);
    const managementPort = await program.managementPort();

    expect((await create(await program.port(), { id: 1n, name: 'Monstera' }))?.outcome).to.equal(200);
    for (const { httpGet } of [container.startupProbe, container.readinessProbe, container.livenessProbe])
      expect((await exchange(managementPort, request(`GET ${httpGet.path}`)))?.status, httpGet.path).to.equal(200);
    expect(await program.stop()).to.equal(0);
  });
});
