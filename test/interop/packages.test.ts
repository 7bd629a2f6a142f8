import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { codeBlocks } from '../support/guide.js';
import { ENTRY_POINTS, PACKAGES, readManifest } from '../support/packages.js';
import { inRepository } from '../support/paths.js';
import { skipUnless } from '../support/skip-unless.js';
import { installed, outputOf, unpackAll } from './interop.js';

/** The files of every package. The source maps name the sources. */
const PUBLISHED = /^(package\.json|README\.md|LICENSE|dist\/[\w/-]+(\.js|\.d\.ts)(\.map)?|(?!dist)[\w/-]+\.ts)$/;
/** Those of one package. */
const PUBLISHED_IN: Readonly<Record<string, RegExp>> = {
  adapters: /^dist\/driving\/koa\/docs-page\/(index\.html|page\.css)$/,
  '': /^((CHANGELOG|CONTRIBUTING|composition\/README)\.md|dist\/openapi\.json|dist\/swagger-ui\/.*|docs\/(?!tutorial\/).*(?<!\.png))$/,
};

const GUIDES = ['docs/embed.md', 'docs/transactions.md', 'docs/adapters.md'];
GUIDES.push(...PACKAGES.map((folder) => `${folder || 'composition'}/README.md`));
const JSONL = 'docs/examples/jsonl-repository/jsonl-plant-repository.ts';
const codeOf = (path: string) =>
  codeBlocks(readFileSync(inRepository(path), 'utf8')).filter(({ language }) => /^[jt]s$/.test(language));
const questions = codeOf('docs/questions.md');
/** A program imports a package, unlike the declarations of a reference. The questions are one, as their page says. */
const programs = [
  ...GUIDES.flatMap(codeOf).filter(({ text }) => /^import /m.test(text)),
  { language: questions[0]?.language, text: questions.map(({ text }) => text).join('') },
].map(({ language, text }, index) => ({ file: `program-${index}.${language}`, text }));
const typed = programs.flatMap(({ file }) => (file.endsWith('.ts') ? file : []));

/** The program that needs Node 22. */
const httpApi = { file: 'http-api.js', text: `${codeOf('docs/http-api.md')[0]?.text}` };
/** What needs Node, or whose types do: its modules and, as the READMEs say, these entry points. */
const NEEDS_NODE = /^node:|^plant-store$|\/(http|http-server|jwt|knex|koa|management)$/;
const isPortable = ({ text }: { readonly text: string }) =>
  Array.from(text.matchAll(/ from '(.+)'/g), ([, name = '']) => name).every((name) => !NEEDS_NODE.test(name));
const exportAll = (names: readonly string[]) =>
  names.map((name, index) => `export * as module${index} from '${name}';\n`).join('');

const DENO = 'run --node-modules-dir=manual --no-remote --allow-all'.split(' ');

describe('The packed packages', () => {
  let folder: string;
  before(() => {
    folder = unpackAll();
    const dependencies = Object.fromEntries(PACKAGES.map((each) => [readManifest(each).name, '*']));
    const names = ENTRY_POINTS.map(({ name }) => name);
    for (const { file, text } of [
      { file: 'package.json', text: JSON.stringify({ type: 'module', dependencies }) },
      { file: 'without-node.ts', text: exportAll(names.filter((name) => !NEEDS_NODE.test(name))) },
      { file: 'all.ts', text: exportAll(names) },
      ...programs,
      httpApi,
    ])
      writeFileSync(join(folder, file), text);
    // docs/adapters.md tests it.
    copyFileSync(inRepository(JSONL), join(folder, basename(JSONL)));
  });

  it('contain code, types, mapped sources, a README and the license, and nothing else', () => {
    for (const each of PACKAGES) {
      const root = join(folder, 'node_modules', readManifest(each).name);
      const paths = readdirSync(root, { recursive: true, encoding: 'utf8' });
      const files = paths.filter((path) => statSync(join(root, path)).isFile());
      const unexpected = files.filter((file) => !PUBLISHED.test(file) && !PUBLISHED_IN[each]?.test(file));
      expect(unexpected, each).to.deep.equal([]);
      expect(files, each).to.include.members(['README.md', 'package.json']);
      expect(readFileSync(join(root, 'LICENSE'), 'utf8')).to.equal(readFileSync(inRepository('LICENSE'), 'utf8'));
      for (const map of files.filter((file) => file.endsWith('.map'))) {
        const { sources } = JSON.parse(readFileSync(join(root, map), 'utf8'));
        for (const source of sources) expect(existsSync(join(root, map, '..', source)), map).to.equal(true);
      }
    }
  });

  // The flags of users: `strict` alone, and the types of every library checked.
  const older = installed('typescript/bin/tsc');
  const newer = inRepository('node_modules/typescript/bin/tsc');
  const compile = (compiler: string, files: readonly string[], options: object) => {
    const strict = { strict: true, noUncheckedIndexedAccess: true, skipLibCheck: false };
    const compilerOptions = { ...strict, target: 'es2022', lib: ['es2022'], types: ['node'], ...options };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    outputOf(folder, [process.execPath, compiler, '-p', '.']);
  };
  for (const [title, compiler, module, moduleResolution, exactOptionalPropertyTypes] of [
    ['have types for TypeScript 5.9 in Node', older, 'nodenext', 'nodenext', false],
    ['have types for TypeScript 5.9 and bundlers, with exact optional properties', older, 'esnext', 'bundler', true],
    ['have types for TypeScript 7 in Node, with exact optional properties', newer, 'nodenext', 'nodenext', true],
    ['have types for TypeScript 7 with the module format node16', newer, 'node16', 'node16', false],
  ] as const) {
    it(title, () => {
      const options = { module, moduleResolution, exactOptionalPropertyTypes, noEmit: true };
      compile(compiler, ['without-node.ts'], { ...options, types: [] });
      compile(compiler, ['all.ts', ...typed], options);
    });
  }

  /** Runs programs, and compares their output with what they state. A test states nothing, but has to pass. */
  const run = (all: typeof programs, ...command: readonly [string, ...string[]]) => {
    for (const { file, text } of all) {
      const stated = Array.from(text.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm), ([, output]) => `${output}\n`);
      const output = outputOf(folder, [...command, file]);
      if (stated.length > 0) expect(output, file).to.equal(stated.join('').replaceAll(' | ', '\n'));
    }
  };
  for (const [title, program, ...args] of [
    ['run on Node 24', installed('node-24/bin/node')],
    ['run on Deno', installed('@deno/linux-x64-glibc/deno'), ...DENO],
    ['run on Bun', installed('@oven/bun-linux-x64/bin/bun'), 'run'],
  ] as const)
    it(title, function () {
      skipUnless(this, existsSync(program), program);
      const portable = [...programs, httpApi].filter(isPortable);
      expect(portable).not.to.be.empty;
      run(portable, program, ...args);
    });

  it('print what the programs in their READMEs and in the guides state', () => {
    compile(older, typed, { module: 'nodenext' });
    const compiled = programs.map(({ file, text }) => ({ file: file.replace(/ts$/, 'js'), text }));
    run(compiled, process.execPath);
  });
});
