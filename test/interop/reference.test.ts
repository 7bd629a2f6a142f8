import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { codeBlocks, section } from '../support/guide.js';
import { PACKAGES, readManifest } from '../support/packages.js';
import { installed, linkDependencies, unpack } from './interop.js';

const { default: ts } = await import(installed('typescript/lib/typescript.js'));
const { Alias, Class, Function: Func, Optional, Type, Variable } = ts.SymbolFlags;

/** What this test reads of TypeScript's objects. */
type Symbol = { readonly name: string; readonly flags: number; readonly valueDeclaration?: object };
type Type = { readonly types: readonly Type[]; isUnion(): boolean };

/** What the declarations use of third parties. */
const THIRD_PARTIES = `
import type Router from '@koa/router';
import type { Container, ServiceIdentifier } from 'inversify';
import type { Knex } from 'knex';
import type Koa from 'koa';
import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';`;

/** The entry points of the packages, with the declarations in their READMEs. */
const entryPoints = PACKAGES.flatMap((folder) => {
  const { name, exports } = readManifest(folder);
  const paths = Object.keys(exports).filter((path) => !path.endsWith('.json'));
  return paths.map((path, index) => {
    const text = section(`${folder || 'composition'}/README.md`, path === '.' ? 'Reference' : path);
    return { entry: join(name, path), declarations: codeBlocks(text).map((block) => block.text).join('\n') };
  });
});

describe('The READMEs declare the exports of', () => {
  const folder = unpack(PACKAGES);
  linkDependencies(folder);
  const imports = new Map<string, string>();
  for (const { entry, declarations } of entryPoints)
    for (const [, name = ''] of declarations.matchAll(/^(?:class|const|function|interface|type) (\w+)/gm))
      imports.set(name, imports.get(name) ?? `import type { ${name} } from '${entry}';`);
  const modules = entryPoints.map(({ entry, declarations }) => {
    return `export * as actual from '${entry}';\nexport declare namespace stated {\n${declarations}}\n`;
  });
  const files = modules.map((text, index) => {
    const file = join(folder, `${index}.d.ts`);
    writeFileSync(file, [THIRD_PARTIES, ...imports.values(), text].join('\n'));
    return file;
  });
  const types = [installed('../../../node_modules/@types/node')];
  const options = { strict: true, noEmit: true, module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, types };
  const program = ts.createProgram(files, options);
  const checker = program.getTypeChecker();

  const exportsOf = (symbol: unknown): Symbol[] =>
    checker
      .getExportsOfModule(symbol)
      .map((each: Symbol) => (each.flags & Alias ? { ...checker.getAliasedSymbol(each), name: each.name } : each));

  /** Describes the members of a type, as seen at a declaration. */
  function describeType(type: Type, at: unknown): string[] {
    if (type.isUnion()) return type.types.flatMap((each) => describeType(each, at));
    const print = (each: unknown) => checker.typeToString(each, at, ts.TypeFormatFlags.NoTruncation);
    const isPublic = ({ name, valueDeclaration }: Symbol) =>
      !name.startsWith('__#') && !(valueDeclaration && ts.getCombinedModifierFlags(valueDeclaration) & 6);
    const members = checker.getPropertiesOfType(type).filter(isPublic);
    const signatures = [0, 1].flatMap((kind) => checker.getSignaturesOfType(type, kind));
    const lines = [
      ...members.map((each: Symbol) => `${each.name}${each.flags & Optional ? '?' : ''}: ${print(checker.getTypeOfSymbol(each))}`),
      ...signatures.map((each) => checker.signatureToString(each, at)),
      ...checker.getIndexInfosOfType(type).map((each: any) => `${print(each.keyType)}: ${print(each.type)}`),
    ];
    return lines.length === 0 ? [print(type)] : lines.sort();
  }

  entryPoints.forEach(({ entry }, index) => {
    it(entry, async () => {
      const source = program.getSourceFile(files[index]);
      const diagnostics = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
      expect(diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).to.deep.equal([]);
      const [actual, stated] = ['actual', 'stated'].map((name) => {
        const symbol = exportsOf(checker.getSymbolAtLocation(source)).find((each) => each.name === name);
        return exportsOf(symbol)
      });
      console.log(actual?.map(x=>x.name), stated?.map(x=>x.name));
    });
  });
});
