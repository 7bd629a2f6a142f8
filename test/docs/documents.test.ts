import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { apiErrors } from '@plant-store/adapters/api';
import { expect } from 'chai';
import { it } from 'mocha';
import { settings } from '../../composition/settings.js';
import { section } from '../support/guide.js';
import { inRepository } from '../support/paths.js';

/** Matches a marker, such as `<!-- quote core/plant.ts: static from( … } -->`, and the code block after it. */
const QUOTE = /<!-- quote (\S+): .+? -->\n```\w+\n(.*?)```\n/gs;

const read = (path: string) => readFileSync(inRepository(path), 'utf8');
const withoutIndentation = (text: string) => text.replaceAll(/^ +/gm, '');

/** Matches a code span that looks like the path of a file or a folder. */
const FILE = /^[\w@.-][\w@./-]*\.(?:ts|js|json|ya?ml|md|svg|png|service|conf|lua)$|^(?:[\w.-]+\/)+$/;
/** Paths that the build or a reader creates, and the entry point of the service. */
const NOT_IN_REPOSITORY = /^(?:(?:dist|plant-store|node_modules)\/|pnpm-workspace\.yaml$|\.yarnrc\.yml$)/;

const options = { cwd: inRepository(''), encoding: 'utf8' } as const;
const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], options);
const files = listed.split('\0').filter(Boolean);
/** What the packages contain together. */
const isPacked = (path: string) => /^(core|adapters|composition|docs|test\/contract)\/|^[A-Z]+(\.md)?$/.test(path);
const folders = new Set(files.flatMap((file) => [...file.matchAll(/\//g)].map(({ index }) => file.slice(0, index))));

it('README.md and docs/http-api.md quote the code as it is', () => {
  for (const document of ['README.md', 'docs/http-api.md']) {
    const quotes = [...read(document).matchAll(QUOTE)];
    expect(quotes, document).not.to.deep.equal([]);
    for (const [, file = '', code = ''] of quotes)
      expect(withoutIndentation(read(file)), file).to.include(withoutIndentation(code));
  }
});

it('docs/configuration.md has every setting, with its default', () => {
  const rows = read('docs/configuration.md').matchAll(/^\| `([A-Z_]+)` \| (.*?) \|/gm);
  const documented = [...rows].map(([, variable, value]) => [variable, value]);
  const toText = (value: string) => (value === '' ? 'none' : `\`${value}\``);
  const defaults = Object.values(settings).map((setting) => [setting.variable, toText(setting.default)]);
  expect(documented).to.have.deep.members(defaults);
});

it('docs/http-api.md has every error number of the code, and no other', () => {
  const rows = section('docs/http-api.md', 'Errors').matchAll(/^\| (\d{5}) \|/gm);
  const numbers = [...new Set(Object.values(apiErrors).map(({ error }) => error))];
  expect([...rows].map(([, error]) => Number(error))).to.deep.equal(numbers);
  const named = section('docs/http-api.md', 'HTTP API').matchAll(/\b[1-5]\d{4}\b/g);
  expect(numbers).to.include.members([...named].map(([error]) => Number(error)));
});

it('Links and paths in every document lead to a target', () => {
  const documents = files.filter((file) => file.endsWith('.md'));
  const problems = documents.flatMap((document) =>
    problemsIn(document, read(document)).map((each) => [document, each]),
  );
  expect(problems).to.deep.equal([]);
});

/** Returns the links and the code paths of a Markdown text that lead nowhere. */
function problemsIn(document: string, markdown: string): string[] {
  const text = withoutFences(markdown);
  const words = text.replaceAll(/(`+).+?\1/gs, '');
  const links = [
    ...words.matchAll(/\]\(<?([^)\s>]+)/g),
    ...words.matchAll(/^\[[^\]]+\]:\s*(\S+)/gm),
    ...words.matchAll(/\b(?:href|src|srcset)="([^"\s]+)/g),
  ].map(([, link = '']) => link);
  const codePaths = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  return [
    ...links.filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(link, document)),
    ...codePaths.filter((code) => FILE.test(code) && !NOT_IN_REPOSITORY.test(code) && !isInRepository(code)),
  ];
}

/** Returns whether the file or folder of a link exists, for a packed document also in the packages. */
function leadsSomewhere(link: string, document: string): boolean {
  const [path = ''] = link.split('#');
  const target = path === '' ? document : join(dirname(document), path).replace(/\/$/, '');
  const isFolder = folders.has(target);
  if (!files.includes(target) && !isFolder) return false;
  return !isPacked(document) || isPacked(isFolder ? `${target}/` : target);
}

/** Returns whether the path of a file or a folder is `path` or ends with it: guides may shorten paths. */
function isInRepository(path: string): boolean {
  return [...files, ...[...folders].map((folder) => `${folder}/`)].some((each) => `/${each}`.endsWith(`/${path}`));
}

function withoutFences(text: string): string {
  return text.replaceAll(/^ *(`{3,}|~{3,}).*?^ *\1/gms, '');
}
