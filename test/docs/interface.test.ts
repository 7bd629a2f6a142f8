import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { rejections, statusOf } from '../../adapters/wire/index.js';
import { declaredResponses } from '../adapters/koa/description.js';
import { endProgramsAfterAll } from '../support/executable.js';
import { codeBlocks, section } from '../support/guide.js';
import { needsProgram } from '../support/needs.js';
import { temporaryFolder } from '../support/temporary.js';
import { serve, TOKEN } from '../system/client.js';

const GUIDE = 'docs/interface.md';
const text = section(GUIDE, 'The interface');

describe(GUIDE, () => {
  it('has every error number of the code, under its status, and no other', () => {
    const rows = section(GUIDE, 'Errors').matchAll(/^\| (\d{3}) \| (\d{5}) \| [^|]{10,} \| [^|]{5,} \|$/gm);
    const errors = Object.values(rejections);
    expect([...rows].map(([, status, error]) => [status, error].map(Number))).to.deep.equal(
      errors.map((rejection) => [statusOf(rejection), rejection.error]),
    );
    const named = [...text.matchAll(/\b[1-5]\d{4}\b/g)].map(([error]) => Number(error));
    expect(errors.map(({ error }) => error)).to.include.members(named);
  });

  it('has every header that the description declares', () => {
    const names = Object.values(declaredResponses).flatMap(({ headers }) => Object.keys(headers ?? {}));
    const rows = [...section(GUIDE, 'Headers').matchAll(/^\| `([\w-]+)/gm)].map(([, name]) => name);
    expect(rows).to.include.members(names);
  });

  describe('A service answers its commands as it says', () => {
    endProgramsAfterAll();
    const folder = temporaryFolder();
    let url: string;
    before(async function () {
      needsProgram(this, 'curl', '--version');
      url = `http://127.0.0.1:${await serve(folder).port()}`;
    });

    const blocks = codeBlocks(text);
    for (const [index, { text: command }] of blocks.entries()) {
      if (!command.startsWith('curl')) continue;
      it(command, () => {
        const line = command.replaceAll('http://127.0.0.1:3000', url);
        const { stdout, stderr } = spawnSync('bash', ['-c', line], {
          encoding: 'utf8',
          env: { ...process.env, TOKEN },
        });
        // What the guide leaves out may be anything.
        const parts = blocks[index + 1]?.text
          .trimEnd()
          .split('…')
          .map((part) => part.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
        expect(stdout.replaceAll('\r', ''), stderr).to.match(new RegExp(`^${parts?.join('.*')}$`, 's'));
      });
    }
  });
});
