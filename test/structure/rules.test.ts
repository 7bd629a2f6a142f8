import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { linkModules } from '../support/link-modules.js';
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
  'adapters/driven/memory/node.ts': "import 'node:fs';",
  'adapters/driven/jwt/service.ts': "import 'plant-store';",
  'adapters/driven/jwt/core-by-path.ts': "import '../../../core/index.js';",
  'adapters/driven/jwt/other-adapter.ts': "import '../knex/index.js';",
  'adapters/driven/jwt/other-adapter-by-name.ts': "import '@plant-store/adapters/knex';",
  'adapters/driven/jwt/driving-adapter.ts': "import '../../driving/api/index.js';",
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

describe('The rules of dependencies', () => {
  const folder = temporaryFolder();

  /** Adds files to a copy of parts of the repository, and returns those of them in which a program finds an error. */
  function find(files: Readonly<Record<string, string>>, paths: readonly string[], ...commands: readonly string[][]) {
    const copy = mkdtempSync(join(folder, 'copy-'));
    const filter = (path: string) => !/\/node_modules$|\.tsbuildinfo$/.test(path);
    for (const path of paths) cpSync(inRepository(path), join(copy, path), { recursive: true, filter });
    linkModules(copy);
    for (const [file, code] of Object.entries(files)) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      writeFileSync(join(copy, file), `${code}\n`);
    }
    const options = { cwd: copy, encoding: 'utf8' } as const;
    const outputs = commands.map((command) => spawnSync(process.execPath, command, options));
    const output = outputs.map(({ stdout, stderr }) => stdout + stderr).join('\n');
    return Object.keys(files).filter((file) => RegExp(`^${file}[(:]1[,:]`, 'm').test(output));
  }

  it('are those of the linter', () => {
    const manifests = ['', 'core/', 'adapters/', 'test/contract/'].map((folder) => `${folder}package.json`);
    const biome = inRepository('node_modules/@biomejs/biome/bin/biome');
    const lint = [biome, 'lint', '--max-diagnostics=none'];
    const found = find(FOUND_BY_LINTER, ['biome.json', '.gitignore', ...manifests], lint);
    expect(found).to.deep.equal(Object.keys(FOUND_BY_LINTER));
  });

  it('are those of the compiler', () => {
    const tsc = inRepository('node_modules/typescript/bin/tsc');
    const compile = (folder: string) => [tsc, '-p', folder, '--noEmit', '--pretty', 'false'];
    const paths = ['tsconfig.json', 'package.json', 'core', 'adapters'];
    const found = find(FOUND_BY_COMPILER, paths, compile('core'), compile('adapters'));
    expect(found).to.deep.equal(Object.keys(FOUND_BY_COMPILER));
  });
});
