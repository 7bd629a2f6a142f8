import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readConfig } from '../../composition/config.js';
import { settings } from '../../composition/settings.js';
import { problemsOf } from '../support/problems.js';
import { CANARY } from '../support/secret-leaks.js';
import { temporaryFolder } from '../support/temporary.js';

const JWKS_URL = 'https://issuer.example/keys';
const JWT = { JWT_ISSUER: 'https://issuer.example/', JWT_AUDIENCE: 'plants', JWT_JWKS_URL: JWKS_URL };

describe('The configuration', () => {
  it('removes white space around a value, treats none or white space alone as unset, and ignores other variables', () => {
    for (const { variable, default: value } of Object.values(settings)) {
      for (const blank of ['', ' \r\n', value && ` ${value}\n`])
        expect(readConfig({ [variable]: blank, POTS: 'many' }), variable).to.deep.equal(readConfig({}));
    }
    const JWT_AUDIENCE = '\ufeffplants\r\n';
    expect(readConfig({ ...JWT, JWT_AUDIENCE, JWT_JWKS_URL: `\t${JWKS_URL} ` })).to.deep.equal(readConfig(JWT));
  });

  it('reports every problem at once, in one line each', () => {
    const problems = problemsOf({
      PORT: 'x',
      ACCESS_TOKENS: `good,${CANARY} ${CANARY}`,
      HEADERS_TIMEOUT: '31s',
      MAX_IN_FLIGHT_BYTES: '1kb',
    });
    expect(problems.map((problem) => problem.slice(0, 24))).to.deep.equal([
      ...[
        'PORT: must be a port fro',
        'ACCESS_TOKENS: token 2 m',
        'REQUEST_TIMEOUT must not',
        'MAX_IN_FLIGHT_BYTES must',
      ],
    ]);
    expect(problems.join()).not.to.include(CANARY);
  });

  it('allows equal limits, and one port only if it is any free port', () => {
    const timeouts = { HEADERS_TIMEOUT: '30s', REQUEST_TIMEOUT: '30s' };
    const sizes = { BODY_LIMIT: '1mb', MAX_IN_FLIGHT_BYTES: '1mb' };
    expect(problemsOf({ ...timeouts, ...sizes, PORT: '0', MANAGEMENT_PORT: '0' })).to.deep.equal([]);
    expect(problemsOf({ PORT: '3001' })).to.deep.equal(['PORT and MANAGEMENT_PORT must differ']);
  });

  it('requires the three settings for JWTs together', () => {
    for (const variable of Object.keys(JWT))
      expect(problemsOf({ ...JWT, [variable]: '' })).to.deep.equal([
        'JWT_ISSUER, JWT_AUDIENCE and JWT_JWKS_URL require each other',
      ]);
  });

  it('requires DATABASE_URL if a variable resembles it, so that no plant is stored in another database', () => {
    const file = join(temporaryFolder(), 'url');
    writeFileSync(file, 'memory:');
    for (const name of ['DATABSE_URL', 'database_url', 'DATABASE_URI', 'DATABASE_URL_FILES']) {
      const problems = problemsOf({ [name]: 'memory:', DATABASE_URL: ' ' });
      expect(problems).to.have.lengthOf(1);
      expect(problems[0]).to.match(
        RegExp(`^${name}: no such setting; did you mean DATABASE_URL.*\\? If not, set DATABASE_URL$`),
      );
      expect(problemsOf({ [name]: 'memory:', DATABASE_URL: 'memory:' })).to.deep.equal([]);
      expect(problemsOf({ [name]: 'memory:', DATABASE_URL_FILE: file })).to.deep.equal([]);
      expect(problemsOf({ [name]: '' })).to.deep.equal([]);
    }
    expect(problemsOf({ DATABASE: 'memory:', LOG_LEVLE: 'warn' })).to.deep.equal([]);
  });
});
