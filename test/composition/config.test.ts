import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readConfig, settings } from '../../composition/config.js';
import { InvalidConfig } from '../../composition/invalid-config.js';
import { temporaryFolder } from '../support/temporary.js';

/** A secret, which must not be printed. */
const CANARY = 'canary-4711';

describe('The configuration', () => {
  const folder = temporaryFolder();
  const file = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };

  it('rejects values from JavaScript that are not strings', () => {
    for (const value of [0, true, ['a'], null])
      expect(() => Reflect.apply(readConfig, undefined, [{ PORT: value }])).to.throw('PORT must be a string');
  });

  it('has the parsed defaults', () => {
    const numbers = { port: 3000, maxInFlight: 10_000, maxInFlightBytes: 64 * 1024 ** 2, storageTimeoutMs: 10_000 };
    expect(readConfig({})).to.deep.include({ ...numbers, docs: true, isDatabaseSet: false, warnings: [] });
  });

  it('describes each setting that has a value, without secrets', () => {
    const DATABASE_URL = `mysql://u:${CANARY}@db/plants`;
    const { effective } = readConfig({ PORT: '80', ACCESS_TOKENS: CANARY, DATABASE_URL });
    const expected = ['HOST="127.0.0.1" (default)', 'PORT="80"', 'ACCESS_TOKENS="***"', 'DATABASE_URL="mysql:***"'];
    expect(effective).to.include.members(expected);
    expect(effective.join()).not.to.match(/canary|JWT_ISSUER/);
  });

  it('warns about a variable whose name is one typing error away from a setting', () => {
    const typos = { LOG_LEVLE: 'LOG_LEVEL', PLUGIN: 'PLUGINS', BODY_LIIMIT: 'BODY_LIMIT', JWT_ISSUED: 'JWT_ISSUER' };
    for (const [typo, similar] of Object.entries(typos)) {
      const { warnings } = readConfig({ [typo]: CANARY });
      expect(warnings).to.deep.equal([`${typo} is not a setting; did you mean ${similar}?`]);
    }
  });

  it('reads the URL of the storage from a file', () => {
    const path = file('url', `postgres://user:${CANARY}@db/plants\n`);
    const { database, isDatabaseSet, effective } = readConfig({ DATABASE_URL_FILE: path });
    expect(database).to.deep.equal({ scheme: 'postgres', url: `postgres://user:${CANARY}@db/plants` });
    expect(isDatabaseSet).to.equal(true);
    expect(effective).to.include(`DATABASE_URL_FILE=${JSON.stringify(path)}`);
    expect(effective.join()).to.not.match(/DATABASE_URL=|canary/);
    expect(problemsOf({ DATABASE_URL_FILE: path, DATABASE_URL: 'memory:' })).to.deep.equal([
      'DATABASE_URL and DATABASE_URL_FILE must not both be set',
    ]);
    for (const text of [CANARY, '', `postgres://db/a\npostgres://db/${CANARY}`, `sqlite:a\nsqlite:${CANARY}`])
      expect(problemsOf({ DATABASE_URL_FILE: file('no-url', text) })[0]).to.match(/^DATABASE_URL_FILE="[^"]+" must be/);
  });

  const encode = 'percent-encode special characters of its user and password, or correct its port';
  for (const [{ variable, allowed }, text, reason] of [
    [settings.database, 'postgres://db/plants?sslmod=on', 'its parameter sslmod is unknown; did you mean sslmode?'],
    [settings.database, 'mysql://db/plants?multipleStatements=true', 'it has an unknown parameter; known are ssl, '],
    [settings.database, 'postgres://db/a?sslrootcert=/none', 'the file /none of sslrootcert cannot be read (ENOENT)'],
    [settings.database, 'postgres://db/plants?sslmode=verify', 'sslmode must be one of disable, no-verify, '],
    [settings.database, 'mysql://db/a?ssl={"verifyIdentty":true}', "ssl's parameter verifyIdentty is unknown; did "],
    [settings.database, 'mysql://db/plants?ssl=true', 'ssl must be a JSON object'],
    [settings.database, 'mysql://db/plants?connectTimeout=10s', 'connectTimeout must be a number above 0'],
    [settings.database, 'postgres://db/plants?max=0', 'max must be a number above 0'],
    [settings.database, 'mysql://db', 'name the database after the host, as in /plants'],
    [settings.database, 'postgres://u:a/b@db/plants', encode],
    [settings.database, 'postgres://u:12/b@db/plants', encode],
    [settings.database, 'postgres://u:12#b@db/plants', encode],
    [settings.accessTokensFile, join(folder, 'no such file'), 'the file cannot be read (ENOENT)'],
    [settings.accessTokensFile, folder, 'the path is not a regular file'],
    [settings.accessTokensFile, '/dev/null', 'the path is not a regular file'],
    [settings.accessTokensFile, file('large', 'a\n'.repeat(2 ** 20)), 'the file is larger than 1048576 bytes'],
    [settings.accessTokensFile, file('comment', '\n# nothing\n'), 'the file contains no token'],
    [settings.accessTokensFile, file('bad', 'one\ntw o\n'), 'token 2 must consist of A-Z a-z 0-9 . _ ~ + / - and '],
  ] as const) {
    it(`rejects ${variable}=${text.replace(folder, '…')} with the reason: ${reason}`, () => {
      const [problem, ...others] = problemsOf({ [variable]: text });
      expect(problem).to.include(` must be ${allowed}; ${reason}`);
      expect(others).to.deep.equal([]);
    });
  }

  it('treats an empty variable as unset, and ignores other variables', () => {
    const empty = Object.fromEntries(Object.values(settings).map(({ variable }) => [variable, '']));
    expect(readConfig({ ...empty, PATH: '/bin', POTS: 'many' })).to.deep.equal(readConfig({}));
  });

  for (const [variable, text, expected] of [
    ['HOST', '::1', { host: '::1' }],
    ['HOST', 'h', { host: 'h' }],
    ['HOST', 'plants.example', { host: 'plants.example' }],
    ['BASE_PATH', '/garden/v1', { basePath: '/garden/v1' }],
    ['DATABASE_URL', 'sqlite:a b.db', { database: { scheme: 'sqlite', url: 'sqlite:a b.db' } }],
    ['DATABASE_URL', 'sqlite:#%.db?mode=rw', { database: { scheme: 'sqlite', url: 'sqlite:#%.db?mode=rw' } }],
    ['DATABASE_URL', 'garden+tls:x', { database: { scheme: 'garden+tls', url: 'garden+tls:x' } }],
    ['ACCESS_TOKENS', 'one, two', { accessTokens: ['one', 'two'] }],
    ['BODY_LIMIT', '1b', { bodyLimitBytes: 1 }],
    ['BODY_LIMIT', '512', { bodyLimitBytes: 512 }],
    ['BODY_LIMIT', '64KB', { bodyLimitBytes: 65_536 }],
    ['MAX_IN_FLIGHT_BYTES', '1gb', { maxInFlightBytes: 1_073_741_824 }],
    ['REQUEST_TIMEOUT', '24h', { requestTimeoutMs: 86_400_000 }],
    ['STORAGE_TIMEOUT', '500ms', { storageTimeoutMs: 500 }],
    ['DOCS', 'off', { docs: false }],
  ] as const) {
    it(`accepts ${variable}=${text}`, () => expect(readConfig({ [variable]: text })).to.deep.include(expected));
  }

  it('reads a token file', () => {
    const path = file('tokens', `# staging\n${CANARY}\n`);
    const { accessTokensFile } = readConfig({ ACCESS_TOKENS_FILE: path });
    expect(accessTokensFile).to.deep.include({ path, tokens: [CANARY] });
  });

  for (const [variable, ...texts] of [
    ['HOST', 'localhost:80', 'http://localhost', '[::1]', 'a b', '*'],
    ['PORT', '65536', '-1', '80.5', '0x50', ' 80', 'http', '1e3'],
    ['BASE_PATH', 'garden', 'garden/v1', '/garden/', '/', '//', '/a b', '/a?b', '/a%20b', '/ü'],
    ['DATABASE_URL', 'sqlite:', 'sqlite://plants.db', 'memory', 'sqlite:a\0b', 'SQLITE:plants.db'],
    ['DATABASE_URL', 'sqlite::memory:', 'sqlite:///:memory:', 'sqlite:file::memory:', 'sqlite:file:plants.db'],
    ['DATABASE_URL', 'sqlite:plants.db?mode=ro', 'sqlite:?mode=rw', 'sqlite::memory:?mode=rw'],
    ['MANAGEMENT_PORT', 'on', '65536'],
    ['BODY_LIMIT', '0', '0kb', '-1', '1.5mb', '1 mb', '257mb', '1tb', 'mb', '1e3', '99999999999999999999'],
    ['MAX_IN_FLIGHT', '0', '1000001', '1k', '-1', 'all'],
    ['MAX_IN_FLIGHT_BYTES', '0', '65gb'],
    ['STORAGE_TIMEOUT', '0', '10', '0s', '25h', '-1s', '1.5s', '10 s', '1d', 'never'],
    ['DOCS', 'true', 'ON', '1'],
    ['PLUGINS', ',./a.js', './a.js,', './a.js,  ,./b.js'],
    ['LOG_LEVEL', 'verbose', 'INFO', 'constructor'],
  ] as const) {
    it(`rejects ${variable}=${texts.map((text) => JSON.stringify(text)).join()}, and names the allowed values`, () => {
      const setting = Object.values(settings).find((each) => each.variable === variable);
      for (const text of texts) {
        const problem = `${variable}=${JSON.stringify(text)} must be ${setting?.allowed}`;
        expect(problemsOf({ [variable]: text })).to.deep.equal([problem]);
      }
    });
  }

  const samePort = 'MANAGEMENT_PORT="3001" (default) must differ from PORT="3001"';
  for (const [environment, ...problems] of [
    [{ HEADERS_TIMEOUT: '31s' }, 'REQUEST_TIMEOUT="30s" (default) must not be less than HEADERS_TIMEOUT="31s"'],
    [{ REQUEST_TIMEOUT: '9s' }, 'REQUEST_TIMEOUT="9s" must not be less than HEADERS_TIMEOUT="10s" (default)'],
    [{ BODY_LIMIT: '65mb' }, 'MAX_IN_FLIGHT_BYTES="64mb" (default) must not be less than BODY_LIMIT="65mb"'],
    [{ PORT: '3001' }, samePort],
    [{ PORT: '3001', HOST: '0.0.0.0' }, samePort],
    [{ PORT: '3001', MANAGEMENT_HOST: '::' }, samePort],
    [{ PORT: '3001', HOST: '10.0.0.1' }],
  ] as const) {
    it(`${problems.length > 0 ? 'rejects settings that conflict' : 'accepts'}: ${JSON.stringify(environment)}`, () => {
      expect(problemsOf(environment)).to.deep.equal(problems);
    });
  }

  describe('for JWTs', () => {
    const JWKS_URL = 'https://issuer.example/keys';
    const jwt = { JWT_ISSUER: 'https://issuer.example/', JWT_AUDIENCE: 'plants', JWT_JWKS_URL: JWKS_URL };

    it('requires the three settings together', () => {
      for (const variable of Object.keys(jwt)) {
        const problem = `${variable} must be set: JWT_ISSUER, JWT_AUDIENCE, JWT_JWKS_URL require each other`;
        expect(problemsOf({ ...jwt, [variable]: '' })).to.deep.equal([problem]);
      }
    });

    it('accepts keys over https, and over http from a loopback address', () => {
      for (const url of [JWKS_URL, 'http://localhost:8080/keys', 'http://127.255.0.9/keys', 'http://[::1]/keys'])
        expect(readConfig({ ...jwt, JWT_JWKS_URL: url })).to.have.deep.property('jwtJwksUrl', new URL(url));
      for (const url of ['http://127.0.0.1.example/keys', 'http://10.0.0.1/', 'file:///keys', 'keys']) {
        const problem = `JWT_JWKS_URL="${url}" must be ${settings.jwtJwksUrl.allowed}`;
        expect(problemsOf({ ...jwt, JWT_JWKS_URL: url })).to.deep.equal([problem]);
      }
    });
  });

  describe('never prints', () => {
    for (const [what, variable, text] of [
      ['an invalid token', 'ACCESS_TOKENS', `good,${CANARY} ${CANARY}`],
      ['an invalid digest', 'ACCESS_TOKENS', `sha256:${CANARY}`],
      ['an invalid token in a file', 'ACCESS_TOKENS_FILE', file('bad-tokens', `good\n${CANARY} ${CANARY}\n`)],
      ['the password of a URL', 'DATABASE_URL', `postgres://user:${CANARY}@db:port/plants`],
      ['a password with special characters', 'DATABASE_URL', `mysql://user:a/b@c?d#${CANARY}@db/plants`],
      ['a password with a line break', 'DATABASE_URL', `mysql://user:a\n${CANARY}@db:port/plants`],
      ['a URL with a password after a SQLite URL', 'DATABASE_URL', `sqlite:plants.db\nmysql://u:${CANARY}@db/plants`],
      ['an unknown parameter of a SQLite URL', 'DATABASE_URL', `sqlite:plants.db?key=${CANARY}`],
      ['a password in a URL without a host', 'DATABASE_URL', `postgres://user:${CANARY}`],
      ['a password in a URL without slashes', 'DATABASE_URL', `postgres:user:${CANARY}@db/plants`],
      ['the password of a keys URL', 'JWT_JWKS_URL', `https://user:${CANARY}@issuer.example/keys`],
      ['a password in the query of a keys URL', 'JWT_JWKS_URL', `http://issuer.example/keys?password=${CANARY}`],
      ['a password in a keys URL without slashes', 'JWT_JWKS_URL', `https:user:${CANARY}@issuer.example/keys`],
    ] as const) {
      it(what, () => {
        const problems = problemsOf({ [variable]: text });
        expect(problems[0]).to.match(RegExp(`^${variable}=`));
        expect(problems.join('\n')).to.not.include(CANARY);
      });
    }
  });
});

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof InvalidConfig) return error.message.split('\n');
    throw error;
  }
  return [];
}
