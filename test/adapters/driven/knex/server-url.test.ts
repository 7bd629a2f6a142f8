import { expect } from 'chai';
import { describe, it } from 'mocha';
import { InvalidServerUrl, openMysql, openPostgres } from '../../../../adapters/driven/knex/index.js';
import { catchError } from '../../../support/catch-error.js';

/** A password that must not appear in any error. */
const CANARY = 'canary-4711';
const IDENTITY = encodeURIComponent('{"verifyIdentity": true}');

describe('The URL of a server is rejected without printing its password', () => {
  const encode = /^percent-encode special characters/;
  for (const [what, url, message] of [
    [
      'with a mistyped parameter',
      `postgres://u:${CANARY}@db/plants?sslmod=on`,
      /^unknown parameter sslmod; known are /,
    ],
    [
      'with a value of sslmode that pg takes for another',
      `postgres://u:${CANARY}@db/plants?sslmode=require`,
      /^sslmode must be/,
    ],
    ['without a database', `mysql://u:${CANARY}@db`, /^must name a database after the host/],
    ['without slashes', `postgres:u:${CANARY}@db/plants`, encode],
    ['with / in the password', `postgres://u:a/${CANARY}@db/plants`, encode],
    ['with / after a digit', `postgres://u:12/${CANARY}@db/plants`, encode],
    ['with ? in the password', `mysql://u:12?${CANARY}@db/plants`, encode],
    ['with # in the password', `mysql://u:12#${CANARY}@db/plants`, encode],
    ['with an invalid port', `postgres://u:${CANARY}@db:port/plants`, encode],
    [
      'with verifyIdentity for an IPv4 address',
      `mysql://u:${CANARY}@10.0.0.1/plants?ssl=${IDENTITY}`,
      /needs a host name/,
    ],
    [
      'with verifyIdentity for an IPv6 address',
      `mysql://u:${CANARY}@[::1]/plants?ssl=${IDENTITY}`,
      /needs a host name/,
    ],
  ] as const) {
    it(what, async () => {
      const error = await catchError(url.startsWith('mysql') ? openMysql({ url }) : openPostgres({ url }));
      expect(error).to.be.instanceOf(InvalidServerUrl).with.property('message').that.matches(message);
      expect(`${error}`).not.to.include(CANARY);
    });
  }
});
