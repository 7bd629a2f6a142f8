import { expect } from 'chai';
import { describe, it } from 'mocha';
import { CommandFolder } from '../../support/command-folder.js';

describe('migrate', () => {
  const folder = new CommandFolder();

  it('creates the schema, and says whether there was one or the storage has none', async () => {
    const database = folder.newDatabase();
    for (const [environment, output] of [
      [database, /^sqlite:\/.*\.db: schema created\n$/],
      [database, /^sqlite:\/.*\.db: schema current\n$/],
      [{ DATABASE_URL: 'memory:' }, /^memory: no schema\n$/],
    ] as const)
      expect((await folder.run(['migrate'], environment)).stdout).to.match(output);
  });
});
