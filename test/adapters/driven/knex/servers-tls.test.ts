import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { openRepository, postgresDatabase } from '../../../../adapters/driven/knex/index.js';
import { catchError } from '../../../support/catch-error.js';
import { portOf } from '../../../support/port.js';
import { skipUnlessInstalled } from '../../../support/skip-unless.js';
import { temporaryFolder } from '../../../support/temporary.js';

/** The server's certificate, the parameters of the URL besides `sslmode`, and the reason. */
const REJECTED = {
  'that no known authority signed': ['valid', '', /: the server's certificate is not from a known authority; name its/],
  'for another host name': ['valid', '&sslrootcert=FOLDER/valid.pem', /: the server's certificate is for another host/],
  'that has expired': [
    'expired',
    '&sslrootcert=FOLDER/expired.pem',
    /: the server's certificate has expired; renew it$/,
  ],
} as const;

describe('With sslmode=verify-full, the error names the reason if PostgreSQL has a certificate', () => {
  const folder = temporaryFolder();
  let server: Server;
  let certificate = '';

  before(async function () {
    skipUnlessInstalled(this, 'openssl', 'version');
    const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'key.pem'];
    openssl('req', '-x509', ...key, '-subj', '/CN=plants.example.org', '-out', 'valid.pem');
    openssl('x509', '-in', 'valid.pem', '-signkey', 'key.pem', '-days', '-1', '-out', 'expired.pem');
    server = createServer(async (socket) => {
      // The client requests TLS, and the server agrees (https://www.postgresql.org/docs/current/protocol-flow.html).
      await once(socket, 'data');
      socket.write('S');
      const [key, cert] = ['key', certificate].map((name) => readFileSync(join(folder, `${name}.pem`)));
      new TLSSocket(socket, { isServer: true, key, cert }).on('error', () => {});
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  after(() => server?.close());

  for (const [what, [name, parameters, reason]] of Object.entries(REJECTED)) {
    it(what, async () => {
      certificate = name;
      const search = `sslmode=verify-full${parameters.replace('FOLDER', folder)}`;
      const url = `postgres://root@127.0.0.1:${portOf(server)}/test?${search}`;
      expect(`${await catchError(openRepository(postgresDatabase({ url, timeoutMs: 5000 })))}`).to.match(reason);
    });
  }
});
