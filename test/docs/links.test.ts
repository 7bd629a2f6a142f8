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
/** Allowed external links, which are not followed: HTTPS, HTTP to this machine, and mailto. */
const EXTERNAL = /^https:\/\/[\w.-]+\.\w+|^http:\/\/(?:127\.0\.0\.1|localhost)\b|^mailto:/;

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: inRepository(''),
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '');
const folders = new Set(
  files.flatMap((file) => file.split('/').map((_, depth, parts) => parts.slice(0, depth).join('/'))),
);

describe('Links in documents', () => {
  for (const document of files.filter((file) => file.endsWith('.md'))) {
    it(`lead to a target: ${document}`, () => {
      expect(problemsIn(document, readFileSync(inRepository(document), 'utf8'))).to.deep.equal([]);
    });
  }

  const invalid = [
    '[a file](nothing.md)',
    '![an image](nothing.png)',
    '<img src="nothing.svg">',
    '<source srcset="nothing.png">',
    '[a reference][1]\n\n[1]: nothing.md',
    '[a folder](../nothing/)',
    '[what the build makes](../dist/openapi.json)',
    '[the wrong case](Adapters.md)',
    '[a heading of this document](#nothing)',
    '[a heading elsewhere](adapters.md#nothing)',
    '[without TLS](http://example.org/)',
    '`adapters/driving/koa/nothing.ts`',
    '`adapters/nothing/`',
  ];
  it('are reported if invalid', () => {
    for (const text of invalid) expect(problemsIn('docs/new.md', text), text).to.have.lengthOf(1);
  });

  const valid = [
    '[a heading](adapters.md#write-a-repository)',
    '# Two `words`, and more\n\n# Two\n\n# Two\n\n[one](#two-words-and-more), [another](#two-1)',
    '[a folder](../test/contract-mutants)',
    '[elsewhere](https://example.org/), [here](http://127.0.0.1:3000/docs)',
    '```\n[code](nothing.md)\n# no heading\n```',
    '`[code](nothing.md)`',
    '`http/server.ts`, `server.ts`, `adapters/`, `application/json`, `plant-store/core`, `/openapi.json`',
  ];
  it('are not reported if valid', () => {
    for (const text of valid) expect(problemsIn('docs/new.md', text), text).to.deep.equal([]);
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
    ...words.matchAll(/<([a-z]+:[^>\s]+)>/g),
  ].map(([, link = '']) => link);
  const codePaths = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  return [
    ...links.filter((link) => !leadsSomewhere(link, document, text)),
    ...codePaths.filter((code) => FILE.test(code) && !NOT_IN_REPOSITORY.test(code) && !isInRepository(code)),
  ];
}

function leadsSomewhere(link: string, document: string, text: string): boolean {
  if (/^[a-z]+:/.test(link)) return EXTERNAL.test(link);
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
  const seen = new Map<string, number>();
  return [...text.matchAll(/^#{1,6} +(.+?) *#*$/gm)].map(([, heading = '']) => {
    const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = words.replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '').replaceAll(' ', '-');
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    return before === 0 ? slug : `${slug}-${before}`;
  });
}

function withoutFences(text: string): string {
  return text.replaceAll(/^ *(`{3,}|~{3,}).*?^ *\1/gms, '');
}
