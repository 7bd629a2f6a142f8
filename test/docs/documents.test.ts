import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { apiErrors } from '@plant-store/adapters/api';
import { expect } from 'chai';
import { it } from 'mocha';
import { settings } from '../../composition/settings.js';
import { codeBlocks, section } from '../support/guide.js';
import { inRepository } from '../support/paths.js';

/** Matches a link of Markdown, of a reference and of HTML. */
const LINK = /(?:\]\(<?|^\[[^\]]+\]:\s*|\b(?:href|src|srcset)=")([^)\s>"]+)/gm;

const read = (path: string) => readFileSync(inRepository(path), 'utf8');

it('docs/configuration.md has every setting, with its default', () => {
  const rows = read('docs/configuration.md').matchAll(/^\| `([A-Z_]+)` \| (?:none|`(.*?)`) \|/gm);
  const documented = [...rows].map(([, variable, value = '']) => [variable, value]);
  expect(documented).to.have.deep.members(Object.values(settings).map((each) => [each.variable, each.default]));
});

it('docs/http-api.md has every error number of the code, and no other', () => {
  const rows = section('docs/http-api.md', 'Errors').matchAll(/^\| (\d{5}) \|/gm);
  const numbers = [...new Set(Object.values(apiErrors).map(({ error }) => error))];
  expect([...rows].map(([, error]) => Number(error))).to.deep.equal(numbers);
});

it('Code in README.md and docs/plugins.md is an excerpt of a file that the tests compile or run', () => {
  const paths = execFileSync('git', ['ls-files', 'core/*.ts', 'docs/*.ts', 'docs/*.js'], { cwd: inRepository('') });
  const withoutIndents = (text: string) => text.replace(/^ +/gm, '');
  const files = `${paths}`
    .trim()
    .split('\n')
    .map((path) => withoutIndents(read(path)));
  for (const { language, text } of ['README.md', 'docs/plugins.md'].flatMap((path) => codeBlocks(read(path))))
    if (/^[jt]s$/.test(language))
      expect(
        files.some((file) => file.includes(withoutIndents(text))),
        text,
      ).to.equal(true);
});

it('Links in every document lead to a file, and to its heading', () => {
  const listed = execFileSync('git', ['ls-files', '*.md'], { cwd: inRepository(''), encoding: 'utf8' });
  const broken: string[] = [];
  for (const document of listed.trim().split('\n')) {
    const text = read(document).replaceAll(/(`+).+?\1/gs, '');
    for (const [, link = ''] of text.matchAll(LINK)) {
      if (/^[a-z]+:/.test(link)) continue;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? document : join(dirname(document), path);
      // Users have the packages, not the repository.
      const isFound = existsSync(inRepository(target)) && (!isPacked(document) || isPacked(target));
      if (!isFound || (anchor && !anchorsOf(read(target)).includes(anchor))) broken.push(`${document}: ${link}`);
    }
  }
  expect(broken).to.deep.equal([]);
});

/** Returns the anchors of the headings, as GitHub derives them. */
function anchorsOf(markdown: string): string[] {
  const headings = Array.from(markdown.matchAll(/^#+ (.*)/gm), ([, heading = '']) => heading.toLowerCase());
  return headings.map((heading) => heading.replace(/[^\w\- ]/g, '').replaceAll(' ', '-'));
}

/** Returns whether a package contains a file. */
function isPacked(path: string): boolean {
  return /^(core|adapters|composition|docs|test\/contract)\/|^[A-Z]+(\.md)?$/.test(path);
}
