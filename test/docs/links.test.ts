import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';

/** Matches a code span that looks like the path of a file or a folder. */
const FILE = /^[\w@.-][\w@./-]*\.(?:ts|js|json|ya?ml|md|svg|png|service|conf|lua)$|^(?:[\w.-]+\/)+$/;
/** Code paths that the build or a reader creates, and entry points of the package. */
const NOT_IN_REPOSITORY = /^(?:dist|plant-store|node_modules)\/|^test\/core\/my-first\.test\.ts$|^my-storage\//;

const options = { cwd: inRepository(''), encoding: 'utf8' } as const;
const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], options);
const files = listed.split('\0').filter(Boolean);
const folders = new Set(files.flatMap((file) => [...file.matchAll(/\//g)].map(({ index }) => file.slice(0, index))));

describe('Links in documents', () => {
  for (const document of files.filter((file) => file.endsWith('.md'))) {
    it(`lead to a target: ${document}`, () => {
      expect(problemsIn(document, readFileSync(inRepository(document), 'utf8'))).to.deep.equal([]);
    });
  }

  it('are reported if invalid', () => {
    for (const text of [
      ...['[a file](nothing.md)', '<img src="nothing.svg">', '[a reference][1]\n\n[1]: nothing.md'],
      ...['[a folder](../nothing/)', '[what the build makes](../dist/openapi.json)', '[the wrong case](Adapters.md)'],
      ...['[a heading of this document](#nothing)', '[a heading elsewhere](adapters.md#nothing)'],
      ...['`adapters/driving/koa/nothing.ts`', '`adapters/nothing/`'],
    ])
      expect(problemsIn('docs/new.md', text), text).to.have.lengthOf(1);
  });
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
    // Links to `../../actions/` are relative to the page of the repository on GitHub.
    ...links.filter((link) => !/^([a-z]+:|\.\.\/\.\.\/actions\/)/.test(link) && !leadsSomewhere(link, document, text)),
    ...codePaths.filter((code) => FILE.test(code) && !NOT_IN_REPOSITORY.test(code) && !isInRepository(code)),
  ];
}

function leadsSomewhere(link: string, document: string, text: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? document : join(dirname(document), path).replace(/\/$/, '');
  if (path !== '' && !files.includes(target) && !folders.has(target)) return false;
  if (anchor === undefined) return true;
  return anchorsOf(path === '' ? text : withoutFences(readFileSync(inRepository(target), 'utf8'))).includes(anchor);
}

/** Returns whether the path of a file or a folder is `path` or ends with it: guides may shorten paths. */
function isInRepository(path: string): boolean {
  const name = `/${path}`;
  return files.some((file) => (name.endsWith('/') ? `/${file}`.includes(name) : `/${file}`.endsWith(name)));
}

/** Returns the anchors that GitHub generates for headings (https://github.com/gjtorikian/html-pipeline). */
function anchorsOf(text: string): string[] {
  const seen: string[] = [];
  return [...text.matchAll(/^#{1,6} +(.+?) *#*$/gm)].map(([, heading = '']) => {
    const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = words.replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '').replaceAll(' ', '-');
    const before = seen.filter((each) => each === slug).length;
    seen.push(slug);
    return before === 0 ? slug : `${slug}-${before}`;
  });
}

function withoutFences(text: string): string {
  return text.replaceAll(/^ *(`{3,}|~{3,}).*?^ *\1/gms, '');
}
