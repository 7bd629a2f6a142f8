import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { Program } from '../support/executable.js';
import { temporaryFolder } from '../support/temporary.js';
import { outputOf, pack, rowsOf } from './interop.js';

const NPM_INSTALL = ['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'] as const;

describe('docs/embed.md says what is installed, and its size, for', () => {
  const folder = temporaryFolder();
  let archives: Readonly<Record<string, string>>;
  before(() => {
    archives = pack();
  });

  for (const [use = '', command = '', packages, megabytes] of rowsOf('docs/embed.md', /^\| [^|]+ \| `npm install/)) {
    it(use, () => {
      const [, , ...names] = command.replaceAll('`', '').split(' ');
      // The registry has no siblings of the service.
      if (names.includes('plant-store')) names.push('@plant-store/core', '@plant-store/adapters');
      const project = join(folder, use);
      mkdirSync(project);
      outputOf(project, [...NPM_INSTALL, ...names.map((name) => archives[name] ?? name)]);
      const { packages: found } = JSON.parse(readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8'));
      expect(Object.keys(found)).to.have.lengthOf.at.most(Number(packages));
      const paths = readdirSync(project, { recursive: true, encoding: 'utf8' });
      const entries = paths.map((path) => statSync(join(project, path)));
      const bytes = entries.reduce((sum, entry) => sum + (entry.isFile() ? entry.size : 0), 0);
      expect(bytes / 1e6).to.be.at.most(Number(megabytes));
    });
  }

  describe('the service, which then, without the binary of sqlite3,', () => {
    const serve = (DATABASE_URL: string) =>
      new Program(join(folder, 'the service'), ['node_modules/.bin/plant-store', 'serve'], { PORT: '0', DATABASE_URL });

    it('serves from memory, with the page at /docs', async () => {
      const [, url = '', token] = await serve('memory:').waitForOutput(
        /^curl -i (\S+) -H 'Authorization: Bearer ([^']+)'/m,
      );
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
      const response = await fetch(url, { method: 'POST', headers, body: '{"id":1,"name":"Monstera"}' });
      expect([response.status, await response.json()]).to.deep.equal([200, { name: 'Monstera' }]);
      for (const path of ['/docs', '/docs/page.js', '/docs/swagger-ui-bundle.js'])
        expect((await fetch(new URL(path, url))).status, path).to.equal(200);
    });

    it('prints the command that installs the driver of a server', async () => {
      for (const [scheme, driver] of Object.entries({ postgres: 'pg', mysql: 'mysql2' })) {
        const stderr = `plant-store: DATABASE_URL: the driver ${driver} is not installed: npm install ${driver}\n`;
        const result = await serve(`${scheme}://user:canary@127.0.0.1:1/plants`).result();
        expect(result).to.deep.equal({ exitCode: 78, stdout: '', stderr });
      }
    });

    it('uses node:sqlite for sqlite:, or prints both ways to use SQLite', async () => {
      const program = serve('sqlite:plants.db');
      if (isBuiltin('node:sqlite')) return expect(await program.port()).to.be.above(0);
      expect((await program.result()).exitCode).to.equal(78);
      return expect(program.stderr).to.match(
        /^plant-store: .*; use Node 22\.13 or newer, or install sqlite3 and allow its install script \(docs\/versions\.md\)\n$/,
      );
    });
  });
});
