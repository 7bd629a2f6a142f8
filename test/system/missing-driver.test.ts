import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { toLines } from '../support/client.js';
import { CommandFolder } from '../support/command-folder.js';
import { Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';

describe('A missing driver', () => {
  const folder = new CommandFolder();

  const installation = join(folder.path, 'without-drivers');
  before(() => {
    mkdirSync(join(installation, 'node_modules'), { recursive: true });
    cpSync(inRepository('package.json'), join(installation, 'package.json'));
    cpSync(inRepository('dist'), join(installation, 'dist'), {
      recursive: true,
      filter: (path) => !path.startsWith(inRepository('dist/test')),
    });
    const missing = ['pg', 'mysql2', 'sqlite3'];
    for (const name of readdirSync(inRepository('node_modules'))) {
      if (missing.includes(name) || name.startsWith('.')) continue;
      symlinkSync(inRepository(`node_modules/${name}`), join(installation, 'node_modules', name));
    }
    writeFileSync(join(installation, 'dist', 'composition', 'cli', 'no-driver.db'), '');
  });

  function start(command: string, url: string): Program {
    const cli = join(installation, 'dist', 'composition', 'cli', 'main.js');
    return new Program(dirname(cli), [process.execPath, cli, command], { DATABASE_URL: url, PORT: '0' });
  }

  for (const [driver, url] of [
    ['pg', 'postgres://user:canary@127.0.0.1:1/plants'],
    ['mysql2', 'mysql://user:canary@127.0.0.1:1/plants'],
  ] as const) {
    // Every command opens the database in the same way.
    for (const command of driver === 'pg' ? ['serve', 'export', 'migrate'] : ['serve']) {
      it(`makes ${command} print the command that installs ${driver}`, async () => {
        const program = start(command, url);
        const exitCode = await program.exited();
        expect([exitCode, program.stdout]).to.deep.equal([1, '']);
        expect(toLines(program.stderr), program.stderr).to.have.lengthOf(1);
        expect(program.stderr).to.match(
          RegExp(`^plant-store: cannot open .*: the driver ${driver} is not installed: npm install ${driver}\n$`),
        );
        expect(program.stderr).not.to.include('canary');
      });
    }
  }

  if (isBuiltin('node:sqlite')) {
    it('makes SQLite use node:sqlite', async () => {
      expect(await start('serve', 'sqlite:no-driver.db').port()).to.be.above(0);
    });
  } else {
    it('makes serve print both ways to use SQLite', async () => {
      const program = start('serve', 'sqlite:no-driver.db');
      expect([await program.exited(), program.stdout]).to.deep.equal([1, '']);
      expect(program.stderr).to.match(
        /^plant-store: cannot open .*: Node \S+ has no node:sqlite, and sqlite3 cannot be loaded; use Node 22\.13 .*, or npm install sqlite3.*\n$/,
      );
    });
  }
});
