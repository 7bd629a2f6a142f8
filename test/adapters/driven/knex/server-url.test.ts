import { InvalidServerUrl, openMysql, openPostgres } from '@plant-store/adapters/knex';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toMysqlName, toPostgresName } from '#adapters/driven/knex/server-url.js';
import { catchError } from '../../../support/catch-error.js';
import { CANARY } from '../../../support/secret-leaks.js';

const ENCODE = /^percent-encode special characters/;
const IDENTITY = encodeURIComponent('{"verifyIdentity": true}');

describe('The URL of a server is rejected without printing its password', () => {
  for (const { title, url, message } of [
    {
      title: 'with a mistyped parameter',
      url: `postgres://u:${CANARY}@db/plants?sslmod=on`,
      message: /^unknown parameter sslmod; known are /,
    },
    {
      title: 'with a value of sslmode that pg takes for another',
      url: `postgres://u:${CANARY}@db/plants?sslmode=require`,
      message: /^sslmode must be/,
    },
    { title: 'without a database', url: `mysql://u:${CANARY}@db`, message: /^must name a database after the host/ },
    { title: 'without slashes', url: `postgres:u:${CANARY}@db/plants`, message: ENCODE },
    { title: 'with / in the password', url: `postgres://u:a/${CANARY}@db/plants`, message: ENCODE },
    { title: 'with / after a digit', url: `postgres://u:12/${CANARY}@db/plants`, message: ENCODE },
    { title: 'with ? in the password', url: `mysql://u:12?${CANARY}@db/plants`, message: ENCODE },
    { title: 'with # in the password', url: `mysql://u:12#${CANARY}@db/plants`, message: ENCODE },
    { title: 'with an invalid port', url: `postgres://u:${CANARY}@db:port/plants`, message: ENCODE },
    {
      title: 'with verifyIdentity for an IPv4 address',
      url: `mysql://u:${CANARY}@10.0.0.1/plants?ssl=${IDENTITY}`,
      message: /needs a host name/,
    },
    {
      title: 'with verifyIdentity for an IPv6 address',
      url: `mysql://u:${CANARY}@[::1]/plants?ssl=${IDENTITY}`,
      message: /needs a host name/,
    },
  ]) {
    it(title, async () => {
      const error = await catchError(url.startsWith('mysql') ? openMysql({ url }) : openPostgres({ url }));
      expect(error).to.be.instanceOf(InvalidServerUrl).with.property('message').that.matches(message);
      expect(`${error}`).not.to.include(CANARY);
    });
  }
});

describe('The URL of a server is named without its password, and may have', () => {
  it("pg's parameters", () => {
    for (const parameters of [
      ...['sslmode=disable', 'sslmode=verify-full&sslrootcert=/ca.pem', 'sslmode=no-verify&sslcert=/a&sslkey=/b'],
      ...['host=/run&port=5433&user=u&password=p', 'application_name=garden&options=-c', 'statement_timeout=1'],
      'lock_timeout=1&idle_in_transaction_session_timeout=1',
    ])
      expect(toPostgresName(`postgres://u:${CANARY}@db:5432/plants?${parameters}`)).to.equal(
        'postgres://db:5432/plants',
      );
  });

  it("mysql2's parameters", () => {
    for (const parameters of [`ssl=${IDENTITY}`, 'socketPath=/run/mysqld.sock', 'compress=true&localAddress=::1'])
      expect(toMysqlName(`mysql://u:${CANARY}@db/plants?${parameters}`)).to.equal('mysql://db/plants');
    expect(toMysqlName(`mysql://u:${CANARY}@10.0.0.1/plants?ssl={}`)).to.equal('mysql://10.0.0.1/plants');
    expect(toMysqlName(`mysql://u:${CANARY}@10.0.0.1/plants`)).to.equal('mysql://10.0.0.1/plants');
  });
});
