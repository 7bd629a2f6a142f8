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

const ENCODE = /^percent-encode special characters/;
const IDENTITY = encodeURIComponent('{"verifyIdentity": true}');

describe('The URL of a server is rejected without printing its password', () => {
  const postgres = `postgres://u:${CANARY}@db/plants`;
  const mysql = `mysql://u:${CANARY}@db/plants`;
  const [ONE_VALUE, OBJECT] = [/^(host|sslmode) must have one value$/, /^ssl must be a percent-encoded JSON object$/];
  for (const { title, url, message } of [
    {
      title: 'with a mistyped parameter',
      url: `${postgres}?sslmod=on`,
      message: /^unknown parameter sslmod; known are /,
    },
    { title: 'with a repeated parameter', url: `${postgres}?sslmode=verify-full&sslmode=disable`, message: ONE_VALUE },
    { title: 'with an empty parameter, which a driver ignores', url: `${postgres}?host=`, message: ONE_VALUE },
    {
      title: 'with a time in seconds',
      url: `${postgres}?lock_timeout=2s`,
      message: /^lock_timeout must consist of digits/,
    },
    { title: 'with a port that is no number', url: `${postgres}?port=5432x`, message: /^port must consist of digits/ },
    {
      title: 'with an empty certificate',
      url: `${postgres}?sslrootcert=/dev/null`,
      message: /^sslrootcert must be a PEM certificate$/,
    },
    { title: 'with an sslmode that pg misreads', url: `${postgres}?sslmode=require`, message: /^sslmode must be/ },
    { title: 'without a database', url: `mysql://u:${CANARY}@db`, message: /^must name a database after the host/ },
    { title: 'without slashes', url: `postgres:u:${CANARY}@db/plants`, message: ENCODE },
    { title: 'with / in the password', url: `postgres://u:a/${CANARY}@db/plants`, message: ENCODE },
    { title: 'with / after a digit', url: `postgres://u:12/${CANARY}@db/plants`, message: ENCODE },
    { title: 'with ? in the password', url: `mysql://u:12?${CANARY}@db/plants`, message: ENCODE },
    { title: 'with # in the password', url: `mysql://u:12#${CANARY}@db/plants`, message: ENCODE },
    { title: 'with a line feed in the password', url: `mysql://u:${CANARY}\n@db/plants`, message: ENCODE },
    { title: 'with % in the password', url: `mysql://u:${CANARY}100%@db/plants`, message: /^percent-encode % as %25$/ },
    {
      title: 'with verifyIdentity for an IP address',
      url: `mysql://u:${CANARY}@[::1]/plants?ssl=${IDENTITY}`,
      message: /needs a host name/,
    },
    {
      title: 'with the path of a certificate on MySQL',
      url: `${mysql}?ssl=${encodeURIComponent('{"ca":"/ca.pem"}')}`,
      message: /^ca must be a PEM certificate$/,
    },
    { title: 'with an ssl that is no JSON object', url: `${mysql}?ssl=true`, message: OBJECT },
  ]) {
    it(title, async () => {
      const error = await catchError(url.startsWith('mysql') ? openMysql({ url }) : openPostgres({ url }));
      expect(error).to.be.instanceOf(InvalidServerUrl).with.property('message').that.matches(message);
      expect(`${error}`).not.to.include(CANARY);
    });
  }
});

describe('The URL of a server is handed to the driver in parts', () => {
  const folder = temporaryFolder();
  const toConnection = (url: string) => {
    const config = url.startsWith('mysql')
      ? configureMysql(parseMysqlUrl(url).settings, 1000, 1)
      : configurePostgres(parsePostgresUrl(url).settings, 1000, 1);
    return config.connection;
  };

  for (const { title, url, parts } of [
    {
      title: 'decoded',
      url: 'postgres://g%40rden:a%2Fb%25%20c@[::1]:5433/pl%61nts',
      parts: { user: 'g@rden', password: 'a/b% c', host: '::1', port: '5433', database: 'plants' },
    },
    {
      title: 'with a host in a parameter, such as a socket of Google Cloud SQL',
      url: 'postgres://u:p@/plants?host=/cloudsql/a:b:c',
      parts: { user: 'u', password: 'p', host: '/cloudsql/a:b:c', database: 'plants' },
    },
    {
      title: 'with a socket on MySQL',
      url: 'mysql://u@localhost/plants?socketPath=/run/mysqld.sock&localAddress=::1',
      parts: { user: 'u', socketPath: '/run/mysqld.sock', localAddress: '::1' },
    },
    {
      title: 'with parameters of PostgreSQL, of which the URL overrides the defaults',
      url: 'postgres://db/plants?user=u&password=p%25&port=1&application_name=a%20b&options=-c%20x&statement_timeout=1',
      parts: { user: 'u', password: 'p%', port: '1', application_name: 'a b', options: '-c x', statement_timeout: '1' },
    },
    { title: 'without TLS on PostgreSQL, whatever PGSSLMODE is', url: 'postgres://db/plants', parts: { ssl: false } },
    { title: 'without TLS by sslmode=disable', url: 'postgres://db/plants?sslmode=disable', parts: { ssl: false } },
    {
      title: 'with TLS by mysql2',
      url: `mysql://10.0.0.1/plants?ssl=${encodeURIComponent('{"verifyIdentity":false}')}`,
      parts: { ssl: { verifyIdentity: false } },
    },
  ]) {
    it(title, () => expect(toConnection(url)).to.deep.include(parts));
  }

  it('with TLS and the certificates of files on PostgreSQL', () => {
    const none = { ca: undefined, cert: undefined, key: undefined, rejectUnauthorized: true };
    const path = (name: string, content: string) => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const pem = '-----BEGIN CERTIFICATE-----\n';
    for (const [parameters, ssl] of [
      ['sslmode=verify-full', none],
      [`sslrootcert=${path('ca', pem)}`, { ...none, ca: pem }],
      [`sslcert=${path('cert', pem)}&sslkey=${path('key', 'key')}`, { ...none, cert: pem, key: 'key' }],
      ['sslmode=no-verify', { ...none, rejectUnauthorized: false }],
    ] as const)
      expect(toConnection(`postgres://db/plants?${parameters}`)).to.have.deep.property('ssl', ssl);
  });

  it('and named without its password', () => {
    const { name } = parsePostgresUrl(`postgres://u:${CANARY}@db:5432/plants?password=p`);
    expect(name).to.equal('postgres://db:5432/plants');
  });
});
