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

describe('The URL of a server is rejected without printing its password', () => {
  const needsEncoding = /^percent-encode special characters/;
  for (const [title, url, message] of [
    ['if a parameter is mistyped', `${POSTGRES}?sslmod=on`, /^unknown parameter sslmod; known are /],
    ['if a parameter is repeated', `${POSTGRES}?sslmode=verify-full&sslmode=disable`, /^sslmode must have one value$/],
    ['if a time has a unit', `${POSTGRES}?lock_timeout=2s`, /^lock_timeout must consist of digits/],
    ['if a certificate is empty', `${POSTGRES}?sslrootcert=/dev/null`, /^sslrootcert must be a PEM certificate$/],
    ['if the TLS mode of libpq verifies less', `${POSTGRES}?sslmode=require`, /^sslmode must be/],
    ['if ssl is no object', `${MYSQL}?ssl=true`, /^ssl must be a percent-encoded JSON object$/],
    ['if ssl has a path', `${MYSQL}?ssl=${encodeJson({ ca: '/ca.pem' })}`, /^ca must be a PEM certificate$/],
    [
      'if an IP address cannot be verified',
      `mysql://u:${CANARY}@[::1]/plants?ssl=${encodeJson({ verifyIdentity: true })}`,
      /needs a host name/,
    ],
    ['if it has no database', `mysql://u:${CANARY}@db`, /^must name a database after the host/],
    ['if the password has a slash', `postgres://u:a/${CANARY}@db/plants`, needsEncoding],
    ['if the password looks like a port', `postgres://u:12/${CANARY}@db/plants`, needsEncoding],
    ['if the password has a question mark', `mysql://u:12?${CANARY}@db/plants`, needsEncoding],
    ['if the password has a hash', `mysql://u:12#${CANARY}@db/plants`, needsEncoding],
    ['if the password has a line feed', `mysql://u:${CANARY}\n@db/plants`, needsEncoding],
    ['if the password has a percent sign', `mysql://u:${CANARY}100%@db/plants`, /^percent-encode % as %25$/],
  ] as const)
    it(title, async () => {
      const error = await catchError(url.startsWith('mysql') ? openMysql({ url }) : openPostgres({ url }));
      expect(error).to.be.instanceOf(InvalidServerUrl).with.property('message').that.matches(message);
      expect(`${error}`).not.to.include(CANARY);
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

  it('with the maximum number of connections', () => {
    for (const configure of [configurePostgres, configureMysql])
      expect(configure({}, 1000, 3).pool).to.include({ max: 3 });
  });

  it('and named without its password', () => {
    const { name } = parsePostgresUrl(`postgres://u:${CANARY}@db:5432/plants?password=p`);
    expect(name).to.equal('postgres://db:5432/plants');
  });
});
