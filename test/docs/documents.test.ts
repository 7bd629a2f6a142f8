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
/** Matches a link of Markdown, of a reference and of HTML. */
const LINK = /(?:\]\(<?|^\[[^\]]+\]:\s*|\b(?:href|src|srcset)=")([^)\s>"]+)/gm;
/** Matches a code span that looks like the path of a file or a folder. */
const PATH = /`([\w@.-][\w@./-]*\.(?:ts|js|json|ya?ml|md|svg|png|service|conf|lua)|(?:[\w.-]+\/)+)`/g;
/** Paths that the build or a reader creates, and the entry point of the service. */
const NOT_IN_REPOSITORY = /^(?:(?:dist|plant-store|node_modules)\/|pnpm-workspace\.yaml$|\.yarnrc\.yml$)/;

const read = (path: string) => readFileSync(inRepository(path), 'utf8');

it('README.md and docs/http-api.md quote the code as it is', () => {
  const withoutIndentation = (text: string) => text.replaceAll(/^ +/gm, '');
  for (const document of ['README.md', 'docs/http-api.md']) {
    const quotes = [...read(document).matchAll(QUOTE)];
    expect(quotes, document).not.to.deep.equal([]);
    for (const [, file = '', code = ''] of quotes)
      expect(withoutIndentation(read(file)), file).to.include(withoutIndentation(code));
  }
});

it('docs/configuration.md has every setting, with its default', () => {
  const rows = read('docs/configuration.md').matchAll(/^\| `([A-Z_]+)` \| (?:none|`(.*?)`) \|/gm);
  const documented = [...rows].map(([, variable, value = '']) => [variable, value]);
  expect(documented).to.have.deep.members(Object.values(settings).map((each) => [each.variable, each.default]));
});

it('docs/http-api.md has every error number of the code, and no other', () => {
  const rows = section('docs/http-api.md', 'Errors').matchAll(/^\| (\d{5}) \|/gm);
  const numbers = [...new Set(Object.values(apiErrors).map(({ error }) => error))];
  expect([...rows].map(([, error]) => Number(error))).to.deep.equal(numbers);
  const named = section('docs/http-api.md', 'HTTP API').matchAll(/\b[1-5]\d{4}\b/g);
  expect(numbers).to.include.members([...named].map(([error]) => Number(error)));
});

it('Links and paths in every document lead to a target', () => {
  const options = { cwd: inRepository(''), encoding: 'utf8' } as const;
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], options);
  const files = listed.trim().split('\n');
  // Files, and folders with a slash at the end.
  const paths = new Set(files.flatMap((file) => [file, ...folders(file)]));
  const broken: string[] = [];
  for (const document of files.filter((file) => file.endsWith('.md'))) {
    const text = read(document).replaceAll(/^ *(`{3,}|~{3,}).*?^ *\1/gms, '');
    for (const [, link = ''] of text.replaceAll(/(`+).+?\1/gs, '').matchAll(LINK)) {
      if (/^([a-z]+:|#)/.test(link)) continue;
      const target = join(dirname(document), link.replace(/\/?(#.*)?$/, ''));
      const found = [target, `${target}/`].find((path) => paths.has(path));
      // Users have the packages, not the repository.
      if (found === undefined || (isPacked(document) && !isPacked(found))) broken.push(`${document}: ${link}`);
    }
    for (const [, path = ''] of text.matchAll(PATH)) {
      // Guides may shorten paths.
      const exists = NOT_IN_REPOSITORY.test(path) || [...paths].some((each) => `/${each}`.endsWith(`/${path}`));
      if (!exists) broken.push(`${document}: ${path}`);
    }
  }
  expect(broken).to.deep.equal([]);
});

/** Returns the folders that a file is in, such as `docs/` and `docs/operate/`. */
function folders(file: string): string[] {
  return [...file.matchAll(/\//g)].map(({ index }) => file.slice(0, index + 1));
}

/** Returns whether a package contains a file. */
function isPacked(path: string): boolean {
  return /^(core|adapters|composition|docs|test\/contract)\/|^[A-Z]+(\.md)?$/.test(path);
}
