import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { codeBlocks, section } from '../support/guide.js';
import { ENTRY_POINTS } from '../support/packages.js';
import { installed, unpackAll } from './interop.js';

const { default: ts } = await import(installed('typescript/lib/typescript.js'));

/** What the declarations use of other packages, and how they are compared with the exports. */
const PRELUDE = `import type { RequestListener } from 'node:http';
import type Router from '@koa/router';
import type { Container, ServiceIdentifier } from 'inversify';
import type { Knex } from 'knex';
import type Koa from 'koa';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
type Is<Stated, Actual extends Stated> = Actual;
type Members<T> = keyof T | (T extends { readonly kind: infer Kind } ? Kind : never);
type Count<T extends (...args: never) => unknown> = Required<Parameters<T>>['length'];
`;

/** The entry points, with the declarations in the README of their package and what each declares. */
const entryPoints = ENTRY_POINTS.map(({ folder, path, name: entry }) => {
  const blocks = codeBlocks(section(`${folder || 'composition'}/README.md`, path === '.' ? 'Reference' : path));
  const code = blocks.map(({ text }) => text).join('');
  const declared = code.matchAll(/^(class|const|function|interface|type) (\w+)/gm);
  return { entry, code, kinds: new Map(Array.from(declared, ([, kind, name = '']) => [name, kind])) };
});

/** Returns types that do not compile unless a name is declared as it is exported. Names of parameters may differ. */
function compare([name, kind]: readonly [string, string | undefined]): string[] {
  const same = (stated: string, actual: string) => [
    `Is<${stated}, ${actual}>`,
    `Is<Members<${stated}>, Members<${actual}>>`,
    `Is<Members<${actual}>, Members<${stated}>>`,
  ];
  const types = same(`stated.${name}`, `actual.${name}`);
  const values = same(`typeof stated.${name}`, `typeof actual.${name}`);
  if (kind === 'function') return [...values, `Is<Count<typeof stated.${name}>, Count<typeof actual.${name}>>`];
  return kind === 'class' ? [...types, ...values] : kind === 'const' ? values : types;
}

describe('The README declares every export, with its members and types, of', () => {
  const folder = unpackAll();
  const files = entryPoints.map((_, index) => join(folder, `${index}.mts`));
  const typeRoots = [join(folder, 'node_modules/@types')];
  let program: typeof ts;
  before(() => {
    // A name comes from the first entry point that declares it.
    const origins = new Map<string, string>();
    for (const { entry, kinds } of entryPoints.toReversed()) for (const name of kinds.keys()) origins.set(name, entry);
    const imports = Array.from(origins, ([name, entry]) => `import type { ${name} } from '${entry}';`);
    for (const [index, { entry, code, kinds }] of entryPoints.entries()) {
      const modules = [`import type * as actual from '${entry}';`, `declare namespace stated {\n${code}}`];
      const checks = [...kinds].flatMap(compare).map((type, number) => `export type Check${number} = ${type};`);
      writeFileSync(`${files[index]}`, PRELUDE + [...imports, ...modules, ...checks].join('\n'));
    }
    program = ts.createProgram(files, { strict: true, module: ts.ModuleKind.NodeNext, typeRoots, types: ['node'] });
  });

  for (const [index, { entry, kinds }] of entryPoints.entries())
    it(entry, () => {
      const source = program.getSourceFile(files[index]);
      const checker = program.getTypeChecker();
      const module = source.statements.find(
        (each: typeof ts) => each.importClause?.namedBindings?.name?.text === 'actual',
      );
      const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(module.moduleSpecifier));
      expect([...kinds.keys()]).to.have.members(exported.map(({ name }: { name: string }) => name));
      const errors: (typeof ts)[] = ts.getPreEmitDiagnostics(program, source);
      expect(errors.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).to.deep.equal([]);
    });
});
