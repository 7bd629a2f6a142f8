import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { codeBlocks, section } from '../support/guide.js';
import { ENTRY_POINTS } from '../support/packages.js';
import { installed, unpackAll } from './interop.js';

const { default: ts } = await import(installed('typescript/lib/typescript.js'));
const { SymbolFlags, TypeFlags, ModifierFlags } = ts;
const { NoTruncation } = ts.TypeFormatFlags;
/** An object of the compiler. Its types are not here when the tests compile without the packages of `test/interop`. */
type Compiled = typeof ts;

/** What the declarations use of other packages. */
const THIRD_PARTIES = `
import type Koa from 'koa'; import type Router from '@koa/router'; import type { Knex } from 'knex';
import type { Container, ServiceIdentifier } from 'inversify'; import type { Logger } from 'pino';
import type { RequestListener } from 'node:http'; import type { Registry } from 'prom-client';\n`;

/** The entry points, with the declarations in the README of their package. */
const entryPoints = ENTRY_POINTS.map(({ folder, path, name }) => {
  const reference = section(`${folder || 'composition'}/README.md`, path === '.' ? 'Reference' : path);
  return { entry: name, code: codeBlocks(reference).map(({ text }) => text) };
});

describe('The READMEs declare exactly the exports of', () => {
  const folder = unpackAll();
  const imports = new Map<string, string>();
  for (const { entry, code } of entryPoints)
    for (const [, name = ''] of code.join('').matchAll(/^(?:class|const|function|interface|type) (\w+)/gm))
      if (!imports.has(name)) imports.set(name, `import type { ${name} } from '${entry}';\n`);
  const files = entryPoints.map(({ entry, code }, index) => {
    const modules = [`export * as actual from '${entry}';\nexport declare namespace stated {\n`, ...code, '}\n'];
    writeFileSync(join(folder, `${index}.d.mts`), [THIRD_PARTIES, ...imports.values(), ...modules].join(''));
    return join(folder, `${index}.d.mts`);
  });
  const options = { strict: true, module: ts.ModuleKind.NodeNext, typeRoots: [join(folder, 'node_modules/@types')] };
  const program = ts.createProgram(files, { ...options, types: ['node'] });
  const checker = program.getTypeChecker();
  const { getDeclaredTypeOfSymbol, getTypeOfSymbol } = checker;

  function exportsOf(module: Compiled): Map<string, Compiled> {
    const resolve = (each: Compiled) => (each.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(each) : each);
    return new Map(checker.getExportsOfModule(module).map((each: Compiled) => [each.name, resolve(each)]));
  }

  /** Describes a type by its public members. */
  function describeType(type: Compiled, print: (part: Compiled) => string): string[] {
    if (type.isUnion()) return type.types.flatMap((each: Compiled) => describeType(each, print));
    const lines: string[] = type.getConstructSignatures().map(print);
    for (const member of type.getProperties()) {
      const hidden = ts.getDeclarationModifierFlagsFromSymbol(member) & ModifierFlags.NonPublicAccessibilityModifier;
      const name = member.flags & SymbolFlags.Optional ? `${member.name}?` : member.name;
      if (!hidden && !name.startsWith('#')) lines.push(`${name}: ${print(getTypeOfSymbol(member))}`);
    }
    for (const each of checker.getIndexInfosOfType(type)) lines.push(`${print(each.keyType)}: ${print(each.type)}`);
    return type.flags & TypeFlags.Object && lines.length > 0 ? lines.sort() : [print(type), ...lines.sort()];
  }

  /** Prints a type or a signature as seen from a scope, without what the READMEs leave out. */
  function print(part: Compiled, scope: Compiled): string {
    const text = part.parameters
      ? checker.signatureToString(part, scope)
      : checker.typeToString(part, scope, NoTruncation);
    const short = text
      .replace(/(?<=[{;] )readonly |import\(.*?\)\./g, '')
      .replace(/(\?: [^;,)]*?) \| undefined(?=[;,)])/g, '$1');
    // A parameter without a name is called by the last word of its type.
    const unnamed = /\{[^{}:;]*\}(?=\??: (?:\w*?([A-Z][a-z]+)\b|\{))/g;
    return short.replace(unnamed, (_: string, word = 'options') => word.toLowerCase());
  }

  for (const [index, { entry }] of entryPoints.entries())
    it(entry, async () => {
      const source = program.getSourceFile(files[index]);
      const problems: Compiled[] = ts.getPreEmitDiagnostics(program, source);
      expect(problems.map(({ messageText }) => messageText)).to.deep.equal([]);
      const modules = exportsOf(checker.getSymbolAtLocation(source));
      const actual = exportsOf(modules.get('actual'));
      const stated = exportsOf(modules.get('stated'));
      expect([...stated.keys()]).to.have.members([...actual.keys()]);
      const values = [...stated.keys()].filter((name) => stated.get(name).flags & SymbolFlags.Value);
      expect(values).to.have.members(Object.keys(await import(entry)));
      const [namespace] = modules.get('stated').declarations;
      for (const [name, symbol] of stated) {
        // The type of a constant may be a subtype of what is stated.
        const isConstant = symbol.flags & SymbolFlags.Variable;
        const describeFrom = (scope: Compiled, type: Compiled) =>
          describeType(type, (part) => (isConstant ? '' : print(part, scope)));
        for (const typeOf of [getDeclaredTypeOfSymbol, ...(values.includes(name) ? [getTypeOfSymbol] : [])]) {
          const [type, statedType] = [actual.get(name), symbol].map(typeOf);
          expect(describeFrom(namespace, statedType), name).to.deep.equal(describeFrom(source, type));
          if (isConstant) expect(checker.isTypeAssignableTo(type, statedType), name).to.equal(true);
        }
      }
    });
});
