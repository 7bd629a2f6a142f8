import { appendFileSync, copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { Program } from '../support/executable.js';
import { codeBlocks, section } from '../support/guide.js';
import { temporaryFolder } from '../support/temporary.js';
import { installed, outputOf, pack, rowsOf } from './interop.js';

const NPM_INSTALL = ['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'] as const;

/** Creates a plant with the command that the service prints. */
async function createPlant(program: Program): Promise<{ url: string; response: Response }> {
  const [, url = '', token] = await program.waitForOutput(/^curl -i (\S+) -H 'Authorization: Bearer ([^']+)'/m);
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  return { url, response: await fetch(url, { method: 'POST', headers, body: '{"id":1,"name":"Monstera"}' }) };
}

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
      const { url, response } = await createPlant(serve('memory:'));
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

describe('docs/versions.md says what the service needs to create a plant, once installed by', () => {
  const folder = temporaryFolder();
  const node = process.execPath;
  const yarn4 = [node, installed('@yarnpkg/cli-dist/bin/yarn.js')] as const;
  const commands: Readonly<Record<string, readonly [string, ...string[]]>> = {
    npm: NPM_INSTALL,
    pnpm: [node, installed('pnpm/bin/pnpm.cjs'), 'install', '--ignore-scripts'],
    // The user's cache may contain an older archive of the same version.
    'Yarn 1': [node, installed('yarn/bin/yarn.js'), '--ignore-scripts', `--cache-folder=${folder}/cache`],
    // With CI=true, Yarn 4 writes no lockfile by default.
    'Yarn 4': [...yarn4, 'install', '--mode=skip-build', '--no-immutable'],
    Bun: [installed('@oven/bun-linux-x64/bin/bun'), 'install', '--ignore-scripts'],
  };
  const [block] = codeBlocks(section('docs/versions.md', 'Package managers'));
  const overrides = JSON.parse(block?.text ?? '');
  let archives: Readonly<Record<string, string>>;
  before(() => {
    archives = pack();
  });

  const rows = rowsOf('docs/versions.md', /^\| \w+( \d)? \| /);
  for (const [manager, command] of Object.entries(commands)) {
    it(manager, async () => {
      const [, place = '', needs = ''] = rows.find(([name]) => name === manager) ?? expect.fail('no row in the table');
      const project = join(folder, manager);
      mkdirSync(project);
      const dependencies = Object.entries(archives).map(([name, archive]) => {
        copyFileSync(archive, join(project, basename(archive)));
        return [name, `file:./${basename(archive)}`];
      });
      const manifest = { private: true, dependencies: Object.fromEntries(dependencies) };
      const [, key = '', file] = /^`(\w+)` in `(.+)`$/.exec(place) ?? [];
      if (file === 'package.json') Object.assign(manifest, { [key]: overrides });
      else if (file) writeFileSync(join(project, file), `${key}: ${JSON.stringify(overrides)}\n`);
      writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
      const [, line = '', settings] = /^`(\w+: .+?)` in `(.+?)`/.exec(needs) ?? [];
      if (settings) appendFileSync(join(project, settings), line);
      outputOf(project, [...command, ...(needs.match(/(?<=`)--[\w-]+/g) ?? [])]);

      // Plug'n'Play creates no node_modules.
      const run =
        manager === 'Yarn 4' ? ([...yarn4, 'plant-store'] as const) : (['node_modules/.bin/plant-store'] as const);
      const { response } = await createPlant(new Program(project, run, { PORT: '0', DATABASE_URL: 'memory:' }));
      expect(response.status).to.equal(200);
    });
  }
});
