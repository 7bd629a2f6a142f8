import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { before, type Context, describe, it } from 'mocha';
import { linkModules } from '../support/link-modules.js';
import { PACKAGES } from '../support/packages.js';
import { inRepository } from '../support/paths.js';
import { skipUnless } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';

const BIOME = inRepository('node_modules/@biomejs/biome/bin/biome');
const TSC = inRepository('node_modules/typescript/bin/tsc');

/** A file that breaks a rule in its first line. */
interface Case {
  readonly title: string;
  readonly file: string;
  readonly code: string;
}

/** Copies files and folders of the repository into a folder, and adds the files that break a rule. */
function copyWith(cases: readonly Case[], paths: readonly string[]): string {
  const copy = temporaryFolder();
  const isCopied = (path: string) => !/\/node_modules$|\.tsbuildinfo$/.test(path);
  for (const path of paths) cpSync(inRepository(path), join(copy, path), { recursive: true, filter: isCopied });
  for (const { file, code } of cases) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    writeFileSync(join(copy, file), `${code}\n`);
  }
  return copy;
}

function outputOf(cwd: string, ...command: readonly string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, command, { cwd, encoding: 'utf8' });
  return stdout + stderr;
}

/** Both programs are binaries in optional packages. */
function skipUnlessRunnable(context: Context, program: string): void {
  const { status } = spawnSync(process.execPath, [program, '--version']);
  skipUnless(context, status === 0, 'the binaries of Biome and TypeScript', true);
}

describe('The linter finds', () => {
  const cases: readonly Case[] = [
    { title: 'a package in the core', file: 'core/a.ts', code: "import 'koa';" },
    { title: 'an adapter in the core', file: 'core/b.ts', code: "import '@plant-store/adapters/jwt';" },
    { title: 'an adapter in the core, by path', file: 'core/c.ts', code: "import '../adapters/driven/jwt/index.js';" },
    { title: 'a built-in module of Node in the core', file: 'core/e.ts', code: "import 'node:fs';" },
    { title: 'a date in the core', file: 'core/d.ts', code: 'export const now = new Date();' },
    { title: 'a package that the adapters do not declare', file: 'adapters/driving/api/a.ts', code: "import 'pino';" },
    { title: 'the service in an adapter', file: 'adapters/driven/jwt/a.ts', code: "import 'plant-store';" },
    { title: 'the core by path', file: 'adapters/driven/jwt/b.ts', code: "import '../../../core/index.js';" },
    { title: 'another adapter', file: 'adapters/driven/jwt/c.ts', code: "import '../knex/index.js';" },
    { title: 'a driving adapter', file: 'adapters/driven/jwt/d.ts', code: "import '../../driving/api/index.js';" },
    { title: 'an adapter by name', file: 'adapters/driven/jwt/e.ts', code: "import '@plant-store/adapters/knex';" },
    { title: 'a file behind an index', file: 'adapters/driving/koa/a.ts', code: "import '../api/plant-codec.js';" },
    { title: 'a built-in module of Node', file: 'adapters/driven/memory/a.ts', code: "import 'node:fs';" },
    { title: 'a devDependency', file: 'composition/a.ts', code: "import 'yaml';" },
    { title: 'the contract in the service', file: 'composition/b.ts', code: "import '@plant-store/contract';" },
    { title: 'a test in the service', file: 'composition/c.ts', code: "import '../test/support/port.js';" },
    { title: 'an example in the service', file: 'composition/g.ts', code: "import '../docs/examples/x.js';" },
    { title: 'a path out of the service', file: 'composition/cli/a.ts', code: "import '../../core/index.js';" },
    { title: 'an import for tests alone', file: 'composition/d.ts', code: "import '#core/plant.js';" },
    { title: 'a circle of files', file: 'composition/e.ts', code: "import './f.js';" },
    { title: 'a circle of types', file: 'composition/f.ts', code: "import type {} from './e.js';" },
  ];
  let output: string;
  before(function () {
    skipUnlessRunnable(this, BIOME);
    const manifests = PACKAGES.map((folder) => join(folder, 'package.json'));
    const copy = copyWith(cases, ['biome.json', '.gitignore', ...manifests]);
    output = outputOf(copy, BIOME, 'lint', '--max-diagnostics=none');
  });

  for (const { title, file } of cases) it(title, () => expect(output).to.match(RegExp(`^\\S*${file}:1:`, 'm')));
});

describe('The compiler finds', () => {
  const cases: readonly Case[] = [
    { title: 'a built-in module of Node in the core', file: 'core/a.ts', code: "import 'node:fs';" },
    { title: 'a timer in the core', file: 'core/b.ts', code: 'setTimeout(() => {}, 1);' },
    { title: 'a file behind an entry point', file: 'adapters/a.ts', code: "import '@plant-store/core/dist/plant.js';" },
    { title: 'an import for tests alone', file: 'adapters/b.ts', code: "import '#core/plant.js';" },
  ];
  let output: string;
  before(function () {
    skipUnlessRunnable(this, TSC);
    const copy = copyWith(cases, ['tsconfig.json', 'package.json', 'core', 'adapters']);
    linkModules(copy);
    const compile = (folder: string) => outputOf(copy, TSC, '-p', folder, '--noEmit', '--pretty', 'false');
    output = compile('core') + compile('adapters');
  });

  for (const { title, file } of cases) it(title, () => expect(output).to.include(`${file}(1,`));
});
