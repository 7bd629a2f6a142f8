import { expect } from 'chai';
import { describe, it } from 'mocha';
import { CommandFolder } from '../../support/command-folder.js';
import { runInProcess } from './in-process.js';

describe('migrate', () => {
  const folder = new CommandFolder();
  const run = async (environment: Readonly<Record<string, string>>) =>
    (await runInProcess(folder.path, ['migrate'], environment)).stdout;

  it('creates the schema, and says whether there was one', async () => {
    const database = folder.newDatabase();
    expect(await run(database)).to.match(/^sqlite:\/.*\.db: schema created\n$/);
    expect(await run(database)).to.match(/^sqlite:\/.*\.db: schema current\n$/);
  });

  it('says that a storage has no schema', async () => {
    expect(await run({ DATABASE_URL: 'memory:' })).to.equal('memory: no schema\n');
  });
});
