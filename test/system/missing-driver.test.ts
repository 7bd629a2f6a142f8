import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
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
  });

  function start(command: string, url: string): Program {
    const cli = join(installation, 'dist', 'composition', 'cli', 'main.js');
    const argv = [process.execPath, '--preserve-symlinks', cli, command] as const;
    return new Program(dirname(cli), argv, { DATABASE_URL: url, PORT: '0' });
  }

  for (const [driver, command, url] of [
    ['pg', 'serve', 'postgres://user:canary@127.0.0.1:1/plants'],
    ['mysql2', 'export', 'mysql://user:canary@127.0.0.1:1/plants'],
  ] as const) {
    it(`makes ${command} print the command that installs ${driver}`, async () => {
      const { exitCode, stdout, stderr } = await start(command, url).result();
      expect([exitCode, stdout]).to.deep.equal([1, '']);
      expect(stderr).to.match(
        RegExp(`^plant-store: cannot open .*: the driver ${driver} is not installed: npm install ${driver}\n$`),
      );
      expect(stderr).not.to.include('canary');
    });
  }

  it('makes SQLite use node:sqlite, or serve print both ways to use SQLite', async () => {
    const program = start('serve', 'sqlite:no-driver.db');
    if (isBuiltin('node:sqlite')) {
      expect(await program.port()).to.be.above(0);
    } else {
      expect(await program.exited()).to.equal(1);
      expect(program.stderr).to.match(
        /^plant-store: cannot open .*: Node \S+ has no node:sqlite, and sqlite3 cannot be loaded; use Node 22\.13 .*, or npm install sqlite3.*\n$/,
      );
    }
  });
});
