// Writes the API reference into a folder: a Markdown page per entry point, from its compiled declarations. Fails if an export
// has no comment, a declaration names a type that no entry point exports, or a comment links to an unknown name. Argument: the
// folder.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '../..');
const [folder] = process.argv.slice(2);

const { exports: targets } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const entryPoints = Object.entries(targets).filter(([path, target]) => path !== '.' && target.endsWith('.js'));
const declarationsOf = (target) => join(root, target.replace(/js$/, 'd.ts'));
const program = ts.createProgram(
  entryPoints.map(([, target]) => declarationsOf(target)),
  { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023, types: [] },
);
const checker = program.getTypeChecker();

/** The pages, each with its exports. */
const pages = entryPoints.map(([path, target]) => {
  const name = path.slice('./'.length);
  const symbols = checker.getExportsOfModule(
    checker.getSymbolAtLocation(program.getSourceFile(declarationsOf(target))),
  );
  const exports = symbols.toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
  return { name, file: `${name.replaceAll('/', '-')}.md`, exports };
});
const names = new Set(pages.flatMap(({ exports }) => exports.map(({ name }) => name)));
const problems = new Set();

for (const page of pages) {
  const sections = page.exports.map((exported) => section(page, withoutAlias(exported), exported));
  writeFileSync(join(folder, page.file), `${[`# plant-store/${page.name}`, ...sections].join('\n\n')}\n`);
}
if (problems.size > 0) {
  console.error([...problems].join('\n'));
  process.exitCode = 1;
}

/** Describes an export: its comment, its declaration, and where to find the types and members that others declare. */
function section(page, symbol, exported) {
  const comments = symbol.declarations.flatMap((each) => ts.getJSDocCommentsAndTags(each)).filter(ts.isJSDoc);
  if (comments.length === 0) problems.add(`${page.name}: ${exported.name} has no comment`);
  const isTypeOnly = symbol.valueDeclaration && exported.declarations.some(ts.isTypeOnlyImportOrExportDeclaration);
  const text = [
    `## ${exported.name}`,
    ...comments.map(prose),
    ...(isTypeOnly ? ['Exported as a type only.'] : []),
    ['```ts', ...symbol.declarations.map(code), '```'].join('\n'),
    ...references(page, symbol),
    ...inherited(page, symbol),
  ].join('\n\n');
  return text.replaceAll(/\{@link ([^}]*)\}/g, (_, link) => {
    const [name] = link.split('.');
    if (!names.has(name) && !propertiesOf(symbol).some((each) => each.name === name))
      problems.add(`${page.name}: the comment of ${symbol.name} links to ${link}`);
    return `\`${link}\``;
  });
}

/** Converts a comment to Markdown, with its tags as a list. */
function prose(comment) {
  return comment
    .getText()
    .replaceAll(/^\/\*\*\s*|\s*\*\/$/g, '')
    .replaceAll(/^ *\* ?/gm, '')
    .replaceAll(/^@\w+( \{[^}]*\})?/gm, '- `$&`');
}

/** Returns a declaration with the comments of its members, without its own comment and private members. */
function code(declaration) {
  const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  const source = statement.getSourceFile().text;
  const hidden = ts.isClassDeclaration(statement) ? statement.members.filter(isPrivate) : [];
  const starts = [statement.getStart(), ...hidden.map(({ end }) => end)];
  const ends = [...hidden.map(({ pos }) => pos), statement.end];
  return starts
    .map((start, index) => source.slice(start, ends[index]))
    .join('')
    .replace(/^export (declare )?/, '')
    .replaceAll(/import\("[^"]*"\)\./g, '');
}

function isPrivate(member) {
  const isMarked = ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private;
  return isMarked || (member.name && ts.isPrivateIdentifier(member.name));
}

/** Links to the exports that a declaration names. */
function references(page, symbol) {
  const links = new Map();
  const visit = (node) => {
    const named = ts.isIdentifier(node) && checker.getSymbolAtLocation(node);
    if (named && named !== symbol) {
      const link = linkTo(page, withoutAlias(named));
      if (link) links.set(node.text, link);
      else if (isHidden(node, withoutAlias(named))) problems.add(`${page.name}: no entry point exports ${node.text}`);
    }
    ts.forEachChild(node, visit);
  };
  for (const declaration of symbol.declarations) visit(declaration);
  return links.size === 0 ? [] : [`Uses ${[...links.values()].join(', ')}.`];
}

/** Returns whether a name stands for a type of the package. The keys of brands, such as `[plantId]`, are not exported. */
function isHidden(node, symbol) {
  const [declaration] = symbol.declarations ?? [];
  return (
    declaration !== undefined &&
    !ts.isComputedPropertyName(node.parent) &&
    (ts.isSourceFile(declaration.parent) || ts.isVariableDeclaration(declaration)) &&
    declaration.getSourceFile().fileName.startsWith(join(root, 'dist/'))
  );
}

/** Lists the members that an export inherits from other exports. */
function inherited(page, symbol) {
  const origins = new Map();
  for (const { name, flags, declarations } of propertiesOf(symbol)) {
    const owner = declarations?.[0]?.parent;
    const origin = owner && ts.isInterfaceDeclaration(owner) && checker.getSymbolAtLocation(owner.name);
    const link = origin && origin !== symbol && linkTo(page, origin);
    const member = `\`${name}${flags & ts.SymbolFlags.Optional ? '?' : ''}\``;
    if (link) origins.set(link, [...(origins.get(link) ?? []), member]);
  }
  return [...origins].map(([link, members]) => `Inherits from ${link}: ${members.join(', ')}.`);
}

function propertiesOf(symbol) {
  const isClassOrInterface = symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface);
  return isClassOrInterface
    ? [checker.getDeclaredTypeOfSymbol(symbol), checker.getTypeOfSymbol(symbol)].flatMap((type) => type.getProperties())
    : [];
}

function linkTo(page, symbol) {
  const isExport = (exported) => withoutAlias(exported) === symbol;
  const target = [page, ...pages].find(({ exports }) => exports.some(isExport));
  if (target === undefined) return undefined;
  const exported = target.exports.find(isExport);
  const anchor = exported.name.toLowerCase();
  // GitHub numbers headings that differ only in case.
  const index = target.exports.filter(({ name }) => name.toLowerCase() === anchor).indexOf(exported);
  return `[${exported.name}](${target === page ? '' : target.file}#${anchor}${index === 0 ? '' : `-${index}`})`;
}

function withoutAlias(symbol) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}
