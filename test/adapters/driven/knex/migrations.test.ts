import { expect } from 'chai';
import { it } from 'mocha';
import { mysql } from '../../../../adapters/driven/knex/mysql.js';
import { postgres } from '../../../../adapters/driven/knex/postgres.js';
import { sqlite } from '../../../../adapters/driven/knex/sqlite.js';

for (const [name, { migrations, tables }] of Object.entries({ sqlite, postgres, mysql })) {
  it(`The migrations of ${name} create every column that the repository needs`, () => {
    const sql = Object.values(migrations).flat().join('\n').toLowerCase();
    const missing = Object.values(tables)
      .flat()
      .filter((column) => !sql.includes(column));
    expect(missing).to.deep.equal([]);
  });
}
