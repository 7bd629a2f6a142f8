import { copyFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { Program } from '../support/executable.js';
import { temporaryFolder } from '../support/temporary.js';
import { installed, outputOf, pack } from './interop.js';

type Command = readonly [string, ...string[]];

const node = process.execPath;
const yarn4 = [node, installed('@yarnpkg/cli-dist/bin/yarn.js')] as const;
/** Where the packages are that the registry does not have yet. */
const ARCHIVES = { '@plant-store/core': 'file:./core.tgz', '@plant-store/adapters': 'file:./adapters.tgz' };
const OVERRIDES = `overrides: ${JSON.stringify(ARCHIVES)}\n`;
const PEERS = 'packageExtensions: { inversify@*: { peerDependencies: { reflect-metadata: "*" } } }\n';

/** The commands and settings of docs/versions.md, and how to run what they install. */
const MANAGERS: readonly {
  name: string;
  install: Command;
  manifest?: object;
  file?: [string, string];
  run?: Command;
}[] = [
  { name: 'npm', install: ['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'] },
  {
    name: 'pnpm',
    install: [node, installed('pnpm/bin/pnpm.cjs'), 'install', '--ignore-scripts'],
    file: ['pnpm-workspace.yaml', `${OVERRIDES}allowBuilds: { sqlite3: true }\n`],
  },
  {
    name: 'Yarn 1',
    // The user's cache may contain an older archive of the same version.
    install: [node, installed('yarn/bin/yarn.js'), '--ignore-scripts', '--ignore-engines', '--cache-folder=cache'],
    manifest: { resolutions: ARCHIVES },
  },
  {
    name: 'Yarn 4',
    // With CI=true, it writes no lockfile by default.
    install: [...yarn4, 'install', '--mode=skip-build', '--no-immutable'],
    manifest: { resolutions: ARCHIVES },
    file: ['.yarnrc.yml', PEERS],
    // Plug'n'Play creates no node_modules.
    run: [...yarn4, 'plant-store'],
  },
  {
    name: 'Bun',
    install: [installed('@oven/bun-linux-x64/bin/bun'), 'install', '--ignore-scripts'],
    manifest: { overrides: ARCHIVES },
  },
];

describe('The service, installed without any binary by', () => {
  const folder = temporaryFolder();
  let archives: Map<string, string>;
  before(() => {
    archives = pack(['core', 'adapters', '']);
  });

  for (const { name, install, manifest, file, run = ['node_modules/.bin/plant-store'] as const } of MANAGERS) {
    it(name, async () => {
      const project = mkdtempSync(join(folder, 'project-'));
      for (const [from, archive] of archives) copyFileSync(archive, join(project, `${from || 'service'}.tgz`));
      const dependencies = { ...ARCHIVES, 'plant-store': 'file:./service.tgz' };
      writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, dependencies, ...manifest }));
      if (file !== undefined) writeFileSync(join(project, file[0]), file[1]);
      outputOf(project, install);
      const service = new Program(project, run, { PORT: '0', DATABASE_URL: 'memory:' });
      const [, url = '', token] = await service.waitForOutput(/^curl -i (\S+) -H 'Authorization: Bearer ([^']+)'/m);
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
      const response = await fetch(url, { method: 'POST', headers, body: '{"id":1,"name":"Monstera"}' });
      expect([response.status, await response.json()]).to.deep.equal([200, { name: 'Monstera' }]);
      expect((await fetch(new URL('/docs/swagger-ui-bundle.js', url))).status).to.equal(200);

      const withoutDriver = await new Program(project, run, { DATABASE_URL: 'postgres://127.0.0.1:1/plants' }).result();
      expect(withoutDriver.stderr).to.equal(
        'plant-store: DATABASE_URL: the driver pg is not installed: npm install pg\n',
      );
    });
  }
});
