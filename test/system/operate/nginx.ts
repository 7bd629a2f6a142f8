import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Context } from 'mocha';
import { Program } from '../../support/executable.js';
import { inRepository } from '../../support/paths.js';
import { freePort } from '../../support/port.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';

/** The host name in the configuration. */
export const NAME = 'plants.example.org';

/** Creates the certificate of the proxies in `folder`. Skips the suite if a program is missing. */
export function createCertificate(context: Context, folder: string): void {
  skipUnlessInstalled(context, 'nginx', '-v');
  skipUnlessInstalled(context, 'openssl', 'version');
  const subject = ['-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME}`];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-keyout', join(folder, 'key.pem')];
  spawnSync('openssl', ['req', '-x509', '-nodes', ...key, '-out', join(folder, 'certificate.pem'), ...subject]);
}

/** A running nginx with the configuration of the guide, except for ports, paths and some changes. */
export interface Nginx {
  readonly program: Program;
  /** Port of the listener that redirects to the other one. */
  readonly redirectPort: number;
  /** Port of the proxy. */
  readonly port: number;
  readonly accessLog: string;
  readonly errorLog: string;
}

/**
 * Starts nginx.
 *
 * @param folder the folder of the certificate
 * @param ports the ports of the instances
 * @param changes texts of the configuration to replace
 */
export async function startNginx(
  folder: string,
  ports: readonly number[],
  { isTls = false, changes = {} }: { isTls?: boolean; changes?: Readonly<Record<string, string>> } = {},
): Promise<Nginx> {
  const own = mkdtempSync(join(folder, 'nginx-'));
  const [redirectPort, port] = [await freePort(), await freePort()];
  const [accessLog, errorLog] = [join(own, 'access.log'), join(own, 'error.log')];
  const replaced: Readonly<Record<string, string>> = {
    'listen 80;': `listen 127.0.0.1:${redirectPort};`,
    'listen [::]:80;': '',
    '443 ssl;\n  listen [::]:443 ssl;': `127.0.0.1:${port}${isTls ? ' ssl' : ''};`,
    'server 127.0.0.1:3000 max_fails=0;': ports.map((one) => `server 127.0.0.1:${one} max_fails=0;`).join('\n'),
    '/var/log/nginx/plant-store.log': accessLog,
    '/var/log/nginx/plant-store-error.log': errorLog,
    '/etc/ssl/plants.example.org.pem': join(folder, 'certificate.pem'),
    '/etc/ssl/private/plants.example.org.key': join(folder, 'key.pem'),
    ...changes,
  };
  let configuration = readFileSync(inRepository('docs/operate/nginx.conf'), 'utf8');
  for (const [from, to] of Object.entries(replaced)) {
    expect(configuration.split(from), from).to.have.length(2);
    configuration = configuration.replace(from, to);
  }
  writeFileSync(join(own, 'plant-store.conf'), configuration);
  const main = 'daemon off; pid nginx.pid; error_log stderr notice; events {} http { include plant-store.conf; }';
  writeFileSync(join(own, 'nginx.conf'), main);
  const program = new Program(own, ['nginx', '-p', own, '-c', 'nginx.conf', '-e', 'stderr']);
  await program.waitForOutput(/start worker process \d/);
  expect(program.stderr).not.to.match(/\[(warn|error|emerg)\]/);
  return { program, redirectPort, port, accessLog, errorLog };
}
