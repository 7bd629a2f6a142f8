import { expect } from 'chai';
import { it } from 'mocha';
import { classifyError } from '../../../../adapters/driven/knex/engine.js';
import { openRepository } from '../../../../adapters/driven/knex/index.js';
import { mysql } from '../../../../adapters/driven/knex/mysql.js';
import { postgres } from '../../../../adapters/driven/knex/postgres.js';
import { sqlite } from '../../../../adapters/driven/knex/sqlite.js';
import { catchError } from '../../../support/catch-error.js';

const CONNECT_CODES = `EAI_AGAIN ECONNREFUSED ECONNRESET EHOSTUNREACH ENETUNREACH ENOTFOUND ETIMEDOUT KnexTimeoutError
  CERT_HAS_EXPIRED ERR_TLS_CERT_ALTNAME_INVALID SELF_SIGNED_CERT_IN_CHAIN`.split(/\s+/);

for (const [name, engine] of Object.entries({ sqlite, postgres, mysql })) {
  it(`The migrations of ${name} create every column that the repository needs`, () => {
    const sql = Object.values(engine.migrations).flat().join('\n').toLowerCase();
    const missing = Object.values(engine.tables)
      .flat()
      .filter((column) => !sql.includes(column));
    expect(missing).to.deep.equal([]);
  });

  it(`The engine ${name} classifies errors of unknown classes as defects`, () => {
    const unknownCode = Object.assign(new Error('x'), { code: '99999', sqlState: '99999', severity: 'ERROR' });
    const errors = [unknownCode, new TypeError('x'), 'not an error'];
    expect(errors.map((error) => classifyError(engine, error))).to.deep.equal(['defect', 'defect', 'defect']);
  });

  it(`The error of a database that cannot be opened has a reason for each known code of ${name}`, async () => {
    for (const code of [...Object.keys(engine.openErrorMessages), ...CONNECT_CODES]) {
      for (const error of [Object.assign(new Error('x'), { code }), new Error(code)]) {
        const configure = () => Promise.reject(error);
        const opening = openRepository({ engine, name: 'db', timeoutMs: 1, configure });
        const { message, cause } = Object(await catchError(opening));
        expect(message).to.match(/^cannot open db: (?!it reported )\w/);
        expect(cause).to.have.property('code', Object(error).code ?? 'Error');
      }
    }
  });
}
