import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { linkModules } from '../support/packages.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';

/** Files whose names say which rule their one line breaks. */
const FOUND_BY_LINTER: Readonly<Record<string, string>> = {
  'core/package.ts': "import 'koa';",
  'core/adapter.ts': "import '@plant-store/adapters/jwt';",
  'core/adapter-by-path.ts': "import '../adapters/driven/jwt/index.js';",
  'core/node.ts': "import 'node:fs';",
  'core/clock.ts': 'export const now = new Date();',
  'adapters/driving/api/undeclared-package.ts': "import 'pino';",
  'adapters/driving/koa/file-behind-an-index.ts': "import '../api/plant-codec.js';",
  'adapters/driven/jwt/service.ts': "import 'plant-store';",
  'adapters/driven/jwt/other-adapter.ts': "import '../knex/index.js';",
  'adapters/driven/jwt/other-adapter-by-name.ts': "import '@plant-store/adapters/knex';",
  'composition/dev-dependency.ts': "import 'yaml';",
  'composition/contract.ts': "import '@plant-store/contract';",
  'composition/test.ts': "import '../test/support/port.js';",
  'composition/example.ts': "import '../docs/examples/x.js';",
  'composition/core-by-path.ts': "import '../core/index.js';",
  'composition/path-for-tests.ts': "import '#core/plant.js';",
  'composition/circle-of-files.ts': "import './circle-of-types.js';",
  'composition/circle-of-types.ts': "import type {} from './circle-of-files.js';",
};

const FOUND_BY_COMPILER: Readonly<Record<string, string>> = {
  'core/node.ts': "import 'node:fs';",
  'core/timer.ts': 'setTimeout(() => {}, 1);',
  'adapters/file-behind-an-entry-point.ts': "import '@plant-store/core/dist/plant.js';",
  'adapters/path-for-tests.ts': "import '#core/plant.js';",
};

describe('A file that breaks a rule of dependencies', () => {
  const copy = temporaryFolder();
  before(() => {
    const files = ['biome.json', '.gitignore', 'package.json', 'tsconfig.json', 'test/contract/package.json'];
    const filter = (path: string) => !/\/node_modules$|\.tsbuildinfo$/.test(path);
    for (const path of [...files, 'core', 'adapters'])
      cpSync(inRepository(path), join(copy, path), { recursive: true, filter });
    linkModules(copy);
    mkdirSync(join(copy, 'composition'));
  });

  /** Asserts that commands find an error in the first line of each of these files, which it adds to the copy. */
  function assertFound(files: Readonly<Record<string, string>>, ...commands: readonly string[]) {
    for (const [file, code] of Object.entries(files)) writeFileSync(join(copy, file), `${code}\n`);
    const options = { cwd: copy, encoding: 'utf8', shell: true } as const;
    const output = commands.map((command) => spawnSync(`node_modules/.bin/${command}`, options).stdout).join('\n');
    const found = Object.keys(files).filter((file) => RegExp(`^${file}[(:]1[,:]`, 'm').test(output));
    expect(found, output).to.deep.equal(Object.keys(files));
    for (const file of Object.keys(files)) rmSync(join(copy, file));
  }

  it('is found by the linter', () => assertFound(FOUND_BY_LINTER, 'biome lint --max-diagnostics=none 2>&1'));

  it('is found by the compiler', () =>
    assertFound(FOUND_BY_COMPILER, 'tsc -p core --noEmit --pretty false', 'tsc -p adapters --noEmit --pretty false'));
});
