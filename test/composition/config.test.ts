import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readConfig } from '../../composition/config.js';
import { InvalidConfig } from '../../composition/files.js';
import { settings } from '../../composition/settings.js';

const JWT = { JWT_ISSUER: 'https://issuer.example/', JWT_AUDIENCE: 'plants', JWT_JWKS_URL: 'https://issuer.example/' };

describe('The configuration', () => {
  it('removes white space around a value, treats none or white space alone as unset, and ignores other variables', () => {
    for (const { variable, default: value } of Object.values(settings)) {
      for (const text of ['', ' \r\n', value && ` ${value}\n`])
        expect(readConfig({ [variable]: text, POTS: 'many' }), variable).to.deep.equal(readConfig({}));
    }
    expect(readConfig({ ...JWT, JWT_AUDIENCE: '\ufeffplants\r\n' })).to.deep.equal(readConfig(JWT));
  });

  it('rejects settings that contradict or require each other', () => {
    for (const [environment, problem] of [
      [{ PORT: '3001' }, 'PORT and MANAGEMENT_PORT must differ'],
      [{ HEADERS_TIMEOUT: '31s' }, 'REQUEST_TIMEOUT must not be less than HEADERS_TIMEOUT'],
      [{ MAX_IN_FLIGHT_BYTES: '1kb' }, 'MAX_IN_FLIGHT_BYTES must not be less than BODY_LIMIT'],
      [{ ...JWT, JWT_ISSUER: '' }, 'JWT_ISSUER, JWT_AUDIENCE and JWT_JWKS_URL require each other'],
      [{ ...JWT, JWT_AUDIENCE: '' }, 'JWT_ISSUER, JWT_AUDIENCE and JWT_JWKS_URL require each other'],
      [{ ...JWT, JWT_JWKS_URL: '' }, 'JWT_ISSUER, JWT_AUDIENCE and JWT_JWKS_URL require each other'],
    ] as const)
      expect(() => readConfig(environment))
        .to.throw(InvalidConfig)
        .with.property('message', problem);
    readConfig({ HEADERS_TIMEOUT: '30s', MAX_IN_FLIGHT_BYTES: '1mb', PORT: '0', MANAGEMENT_PORT: '0' });
  });

  it('requires DATABASE_URL if a variable resembles it, so that no plant is stored in another database', () => {
    for (const name of ['DATABSE_URL', 'database_url', 'DATABASE_URL_FILES']) {
      const problem = RegExp(`^${name}: no such setting; did you mean DATABASE_URL.*\\? If not, set DATABASE_URL$`);
      expect(() => readConfig({ [name]: 'memory:', DATABASE_URL: ' ' })).to.throw(InvalidConfig, problem);
      readConfig({ [name]: 'memory:', DATABASE_URL: 'memory:' });
      readConfig({ [name]: '' });
    }
    readConfig({ DATABASE: 'memory:', LOG_LEVLE: 'warn' });
  });
});
