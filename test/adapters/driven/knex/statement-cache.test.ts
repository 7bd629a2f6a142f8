import { expect } from 'chai';
import { describe, it } from 'mocha';
import { MAX_STATEMENTS, StatementCache } from '../../../../adapters/driven/knex/statement-cache.js';

describe('A cache of prepared statements', () => {
  const open = () => {
    const [prepared, finalized]: [string[], string[]] = [[], []];
    const cache = new StatementCache<string>((statement) => finalized.push(statement));
    const use = (sql: string) => {
      const prepare = () => {
        prepared.push(sql);
        return sql;
      };
      cache.get(sql, prepare);
    };
    return { cache, use, prepared, finalized };
  };

  it('keeps a limited number of statements, and finalizes the one that was not used for longest', () => {
    const { use, prepared, finalized } = open();
    const others = Array.from({ length: MAX_STATEMENTS }, (_, index) => `SELECT ${index}`);
    use('INSERT');
    for (const sql of others) {
      use(sql);
      use('INSERT');
    }
    expect(prepared).to.deep.equal(['INSERT', ...others]);
    expect(finalized).to.deep.equal(['SELECT 0']);
  });

  it('prepares a statement again after it was deleted', () => {
    const { cache, use, prepared, finalized } = open();
    use('INSERT');
    cache.delete('INSERT');
    use('INSERT');
    expect(prepared).to.deep.equal(['INSERT', 'INSERT']);
    expect(finalized).to.deep.equal(['INSERT']);
  });

  it('finalizes every statement when it is cleared', () => {
    const { cache, use, finalized } = open();
    use('INSERT');
    use('SELECT');
    cache.clear();
    expect(finalized).to.deep.equal(['INSERT', 'SELECT']);
  });
});
