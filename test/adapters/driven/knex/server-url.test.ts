import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvalidServerUrl, openMysql, openPostgres } from '@plant-store/adapters/knex';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { configureMysql, parseMysqlUrl } from '#adapters/driven/knex/mysql.js';
import { configurePostgres, parsePostgresUrl } from '#adapters/driven/knex/postgres.js';
import { catchError } from '../../../support/catch-error.js';
import { CANARY } from '../../../support/secret-leaks.js';
import { temporaryFolder } from '../../../support/temporary.js';

const POSTGRES = `postgres://u:${CANARY}@db/plants`;
const MYSQL = `mysql://u:${CANARY}@db/plants`;
const encodeJson = (value: object) => encodeURIComponent(JSON.stringify(value));

/** Expects that a server is not opened, and that the error does not print the password. */
async function expectInvalid(url: string, message: RegExp): Promise<void> {
  const error = await catchError(url.startsWith('mysql') ? openMysql({ url }) : openPostgres({ url }));
  expect(error, url).to.be.instanceOf(InvalidServerUrl).with.property('message').that.matches(message);
  expect(`${error}`).not.to.include(CANARY);
}

describe('The URL of a server is rejected without printing its password', () => {
  it('if a parameter would be ignored or misread', async () => {
    for (const [url, message] of [
      [`${POSTGRES}?sslmod=on`, /^unknown parameter sslmod; known are /],
      [`${POSTGRES}?sslmode=verify-full&sslmode=disable`, /^sslmode must have one value$/],
      [`${POSTGRES}?host=`, /^host must have one value$/],
      [`${POSTGRES}?lock_timeout=2s`, /^lock_timeout must consist of digits/],
      [`${POSTGRES}?port=5432x`, /^port must consist of digits/],
      [`${POSTGRES}?sslrootcert=/dev/null`, /^sslrootcert must be a PEM certificate$/],
      [`${POSTGRES}?sslmode=require`, /^sslmode must be/],
      [`${MYSQL}?ssl=true`, /^ssl must be a percent-encoded JSON object$/],
      [`${MYSQL}?ssl=${encodeJson({ ca: '/ca.pem' })}`, /^ca must be a PEM certificate$/],
      [`mysql://u:${CANARY}@[::1]/plants?ssl=${encodeJson({ verifyIdentity: true })}`, /needs a host name/],
    ] as const)
      await expectInvalid(url, message);
  });

  it('if it has no database', () => expectInvalid(`mysql://u:${CANARY}@db`, /^must name a database after the host/));

  it('if the password has special characters, or the slashes are missing', async () => {
    for (const url of [
      `postgres:u:${CANARY}@db/plants`,
      `postgres://u:a/${CANARY}@db/plants`,
      `postgres://u:12/${CANARY}@db/plants`,
      `mysql://u:12?${CANARY}@db/plants`,
      `mysql://u:12#${CANARY}@db/plants`,
      `mysql://u:${CANARY}\n@db/plants`,
    ])
      await expectInvalid(url, /^percent-encode special characters/);
    await expectInvalid(`mysql://u:${CANARY}100%@db/plants`, /^percent-encode % as %25$/);
  });
});

describe('The URL of a server is handed to the driver in parts', () => {
  const folder = temporaryFolder();
  const toConnection = (url: string) => {
    const config = url.startsWith('mysql')
      ? configureMysql(parseMysqlUrl(url).settings, 1000, 1)
      : configurePostgres(parsePostgresUrl(url).settings, 1000, 1);
    return config.connection;
  };

  it('decoded, with the host, the socket and the times of parameters', () => {
    for (const [url, parts] of [
      [
        'postgres://g%40rden:a%2Fb%25%20c@[::1]:5433/pl%61nts',
        { user: 'g@rden', password: 'a/b% c', host: '::1', port: '5433', database: 'plants' },
      ],
      [
        // Such as a socket of Google Cloud SQL.
        'postgres://u:p@/plants?host=/cloudsql/a:b:c',
        { user: 'u', password: 'p', host: '/cloudsql/a:b:c', database: 'plants' },
      ],
      [
        'postgres://db/plants?user=u&password=p%25&port=1&application_name=a%20b&options=-c%20x&statement_timeout=1',
        { user: 'u', password: 'p%', port: '1', application_name: 'a b', options: '-c x', statement_timeout: '1' },
      ],
      [
        'mysql://u@localhost/plants?socketPath=/run/mysqld.sock&localAddress=::1',
        { user: 'u', socketPath: '/run/mysqld.sock', localAddress: '::1' },
      ],
    ] as const)
      expect(toConnection(url)).to.deep.include(parts);
  });

  it('with TLS and certificates, or without TLS, whatever PGSSLMODE is', () => {
    const write = (name: string, content: string) => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const none = { ca: undefined, cert: undefined, key: undefined, rejectUnauthorized: true };
    const pem = '-----BEGIN CERTIFICATE-----\n';
    for (const [url, ssl] of [
      [POSTGRES, false],
      [`${POSTGRES}?sslmode=disable`, false],
      [`${POSTGRES}?sslmode=verify-full`, none],
      [`${POSTGRES}?sslmode=no-verify`, { ...none, rejectUnauthorized: false }],
      [`${POSTGRES}?sslrootcert=${write('ca', pem)}`, { ...none, ca: pem }],
      [`${POSTGRES}?sslcert=${write('cert', pem)}&sslkey=${write('key', 'k')}`, { ...none, cert: pem, key: 'k' }],
      [`mysql://10.0.0.1/plants?ssl=${encodeJson({ verifyIdentity: false })}`, { verifyIdentity: false }],
    ] as const)
      expect(toConnection(url)).to.have.deep.property('ssl', ssl);
  });

  it('and named without its password', () => {
    const { name } = parsePostgresUrl(`postgres://u:${CANARY}@db:5432/plants?password=p`);
    expect(name).to.equal('postgres://db:5432/plants');
  });
});
