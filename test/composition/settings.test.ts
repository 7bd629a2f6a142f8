import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readConfig } from '../../composition/config.js';
import { InvalidConfig } from '../../composition/files.js';
import { CANARY } from '../support/secret-leaks.js';

const JWT = { JWT_ISSUER: 'https://issuer.example/', JWT_AUDIENCE: 'plants' };

describe('A setting', () => {
  it('has a value of its kind', () => {
    for (const [variable, text, expected] of [
      ['PORT', '0', { port: 0 }],
      ['BASE_PATH', '/garden/v1', { basePath: '/garden/v1' }],
      ['PLUGINS', './a.js, garden,', { plugins: ['./a.js', 'garden'] }],
      ['ACCESS_TOKENS', 'ali=one', { accessTokens: [{ name: 'ali', token: 'one' }] }],
      ['MANAGEMENT_PORT', 'Off', { managementPort: 'off' }],
      ['BODY_LIMIT', '512', { bodyLimitBytes: 512 }],
      ['BODY_LIMIT', '64KB', { bodyLimitBytes: 65_536 }],
      ['MAX_IN_FLIGHT_BYTES', '1gb', { maxInFlightBytes: 1_073_741_824 }],
      ['REQUEST_TIMEOUT', '24h', { requestTimeoutMs: 86_400_000 }],
      ['KEEP_ALIVE_TIMEOUT', '2m', { keepAliveTimeoutMs: 120_000 }],
      ['STORAGE_TIMEOUT', '500ms', { storageTimeoutMs: 500 }],
      ['DOCS', 'OFF', { docs: false }],
      ['LOG_LEVEL', 'INFO', { logLevel: 'info' }],
    ] as const)
      expect(readConfig({ [variable]: text }), `${variable}=${text}`).to.deep.include(expected);
  });

  it('rejects any other value, and names what is allowed', () => {
    const paths = ['a/b', '/garden/', '/', '//', '/a b', '/a?b', '/a%20b', '/ü'];
    const jwksUrl = 'an https URL without user and password, or an http URL of a loopback address';
    const jwksUrls = [`https://${CANARY}@issuer.example/keys`, `https://:${CANARY}@issuer.example/keys`];
    for (const [variable, allowed, ...texts] of [
      ['PORT', 'a port from 0 to 65535', '65536', '-1', '80.5', '0x50', '8 0', 'http', '1e3'],
      ['HOST', 'an address or a host name', `postgres://user:${CANARY}@db/plants`],
      ['BASE_PATH', 'a path such as /garden', ...paths],
      ['BODY_LIMIT', 'a size from 1b to 256mb, such as 64kb or 1mb', '0', '-1', '1.5mb', '1 mb', '257mb', 'mb'],
      ['MAX_IN_FLIGHT', 'a whole number above 0', '0', '1k', '-1', 'all'],
      ['STORAGE_TIMEOUT', 'a duration from 1ms to 24h, such as 500ms, 10s or 2m', '0', '10', '0s', '25h', '1.5s', '1d'],
      ['DOCS', 'one of on, off', 'true', '1'],
      ['LOG_LEVEL', 'one of fatal, error, warn, info, debug, trace, silent', 'verbose', 'constructor'],
      ['JWT_JWKS_URL', jwksUrl, 'http://127.0.0.1.example/', 'http://10.0.0.1/', 'file:///keys', 'keys', ...jwksUrls],
    ] as const)
      for (const text of texts)
        expect(() => readConfig({ ...JWT, JWT_JWKS_URL: 'https://issuer.example/', [variable]: text }), text)
          .to.throw(InvalidConfig)
          .with.property('message', `${variable}: must be ${allowed}`);
  });

  it('allows keys over https, and over http from a loopback address', () => {
    for (const url of ['https://issuer.example/', 'http://localhost:8080/', 'http://127.255.0.9/', 'http://[::1]/'])
      expect(readConfig({ ...JWT, JWT_JWKS_URL: url })).to.have.deep.property('jwtJwksUrl', new URL(url));
  });
});
