import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { parseEntries } from '../../composition/token-entries.js';
import { CANARY } from '../support/secret-leaks.js';

const HEX = createHash('sha256').update('correct-horse').digest('hex');

describe('The entries of access tokens', () => {
  it('have a token or its digest, and a name, which is otherwise derived from the digest', () => {
    const entries = ['ali=one', `beri.b_2@x-y=SHA256:${HEX.toUpperCase()}`, 'ali=pad==', 'two'];
    expect(parseEntries(entries)).to.deep.equal([
      { name: 'ali', token: 'one' },
      { name: 'beri.b_2@x-y', digest: HEX },
      { name: 'ali', token: 'pad==' },
      { name: `sha256:${createHash('sha256').update('two').digest('hex').slice(0, 12)}`, token: 'two' },
    ]);
    expect(parseEntries([`sha256:${HEX}`])).to.deep.equal([{ name: `sha256:${HEX.slice(0, 12)}`, digest: HEX }]);
  });

  it('are rejected with their position, not their content', () => {
    for (const [title, entry] of [
      ['an empty entry', ''],
      ['a token with a space', `${CANARY} ${CANARY}`],
      ['a name without a token', `${CANARY}=`],
      ['a token that ends in = and has no name', `${CANARY}==`],
      ['a digest after = instead of a colon', `SHA256=${HEX}`],
      ['an empty name', `=${CANARY}`],
      ['a name with a space', `${CANARY} ${CANARY}=token`],
      ['a name with a non-ASCII letter', `${CANARY}é=token`],
      ['a digest that is too short', `sha256:${HEX.slice(1)}`],
      ['a digest after other letters', `xsha256:${HEX}`],
      ['a digest with a second line', `sha256:${HEX}\n`],
      ['the token of another client', 'beri=good'],
    ] as const)
      expect(() => parseEntries(['ali=good', entry]), title)
        .to.throw(TypeError, /^token 2 /)
        .with.property('message')
        .that.does.not.match(RegExp(`${CANARY}|${HEX.slice(1)}`));
  });
});
