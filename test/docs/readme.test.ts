import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { settings } from '../../composition/config.js';
import { inRepository } from '../support/paths.js';

/** A marker, such as `<!-- quote core/plant.ts: static from( … } -->`, and the code block after it. */
const QUOTE = /<!-- quote (\S+): .+? -->\n```\w+\n(.*?)```\n/gs;

const read = (path: string) => readFileSync(inRepository(path), 'utf8');
const withoutIndentation = (text: string) => text.replaceAll(/^ +/gm, '');

describe('README.md', () => {
  const readme = read('README.md');

  for (const [, file = '', code = ''] of readme.matchAll(QUOTE)) {
    it(`quotes ${file}`, () => {
      const isCurrent = withoutIndentation(read(file)).includes(withoutIndentation(code));
      expect(isCurrent, `README.md quotes code that is not in ${file}:\n${code}`).to.equal(true);
    });
  }

  it('has every setting, with its default', () => {
    const rows = readme.matchAll(/^\| `([A-Z_]+)` \| (.*?) \|/gm);
    const documented = Object.fromEntries([...rows].map(([, variable, value]) => [variable, value]));
    const toText = (value: string | undefined) => (value === undefined ? 'none' : `\`${value}\``);
    const defaults = Object.values(settings).map((setting) => [setting.variable, toText(setting.default)]);
    expect(documented).to.deep.equal(Object.fromEntries(defaults));
  });
});
