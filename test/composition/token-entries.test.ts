import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { parseEntries } from '../../composition/token-entries.js';

const HEX = createHash('sha256').update('correct-horse').digest('hex');

describe('The entries of access tokens', () => {
  it('have a name, and a token or its digest', () => {
    expect(parseEntries(['ali=one', `beri.b_2@x-y=SHA256:${HEX.toUpperCase()}`, 'ali=pad=='])).to.deep.equal([
      { name: 'ali', token: 'one' },
      { name: 'beri.b_2@x-y', digest: HEX },
      { name: 'ali', token: 'pad==' },
    ]);
  });

  it('without a name have one that is derived from the digest, whatever the other entries are', () => {
    const name = `sha256:${HEX.slice(0, 12)}`;
    expect(parseEntries(['correct-horse'])).to.deep.equal([{ name, token: 'correct-horse' }]);
    expect(parseEntries(['one', `sha256:${HEX.toUpperCase()}`])[1]).to.deep.equal({ name, digest: HEX });
  });

  const canary = 'canary';
  describe('name the position, not the content, of', () => {
    for (const [title, bad] of Object.entries({
      'an empty entry': '',
      'a space in a token': `${canary} ${canary}`,
      'a token with = in the middle': `ali=${canary}=${canary}`,
      'a name without a token': `${canary}=`,
      'a token that ends in = and has no name': `${canary}==`,
      'a digest after = instead of a colon': `SHA256=${'0'.repeat(64)}`,
      'an empty name': `=${canary}`,
      'a name with a space': `${canary} ${canary}=token`,
      'a name with a non-ASCII letter': `${canary}é=token`,
      'a digest that is too short': `sha256:${'0'.repeat(63)}`,
      'a digest after other letters': `xsha256:${'0'.repeat(64)}`,
      'a digest with a second line': `sha256:${HEX}\n`,
      'the token of another client': 'beri=good',
    }))
      it(title, () => {
        expect(() => parseEntries(['ali=good', bad])).to.throw(TypeError, RegExp(`^token 2 (?!.*(${canary}|0000))`));
      });
  });
});
