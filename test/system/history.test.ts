import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { TestPlant } from '../support/client.js';
import { type Operation, type Rule, violationsOf } from './history.js';

const monstera: TestPlant = { id: 1n, name: 'Monstera' };
const ficus: TestPlant = { id: 1n, name: 'Ficus' };
const tagged: TestPlant = { id: 1n, name: 'Monstera', tag: '' };

/** A create that was sent at `sentAt` and ended at `endedAt`. */
function op(plant: TestPlant, outcome: unknown, sentAt: number, endedAt: number): Operation {
  return { plant, outcome, sentAt, endedAt };
}

describe('The history checker', () => {
  const good: Readonly<Record<string, [Operation[], TestPlant[]]>> = {
    'an empty history': [[], []],
    'a create, a duplicate and conflicts': [
      [op(monstera, 200, 0, 1), op(monstera, 40902, 2, 3), op(ficus, 40901, 2, 3), op(tagged, 40901, 2, 3)],
      [monstera],
    ],
    'a duplicate and a conflict that end before the overlapping create': [
      [op(monstera, 200, 0, 9), op(monstera, 40902, 1, 2), op(ficus, 40901, 1, 2)],
      [monstera],
    ],
    'several ids': [
      [op(monstera, 200, 0, 1), op({ id: 2n, name: 'Ficus' }, 200, 0, 1)],
      [monstera, { ...ficus, id: 2n }],
    ],
    'an unknown outcome whose plant is not stored': [[op(monstera, 50301, 0, 1), op(monstera, undefined, 2, 3)], []],
    'an unknown outcome whose plant is stored': [[op(monstera, undefined, 0, 1)], [monstera]],
    'a retry that finds the plant of an unknown outcome': [
      [op(monstera, 50301, 0, 1), op(monstera, 40902, 2, 3), op(ficus, 40901, 2, 3)],
      [monstera],
    ],
    'a retry that stores the plant of an unknown outcome': [
      [op(monstera, 50301, 0, 1), op(monstera, 200, 2, 3)],
      [monstera],
    ],
    'another plant after an unknown outcome': [
      [op(monstera, undefined, 0, 1), op(ficus, 200, 2, 3), op(monstera, 40901, 4, 5)],
      [ficus],
    ],
  };
  for (const [what, [history, stored]] of Object.entries(good)) {
    it(`accepts ${what}`, () => {
      expect(violationsOf(history, stored)).to.deep.equal([]);
    });
  }

  const bad: Readonly<Record<string, [Operation[], TestPlant[], Rule[]]>> = {
    'a 200 whose plant is lost': [[op(monstera, 200, 0, 1)], [], ['an acknowledged plant is lost or altered']],
    'a 40902 whose plant is lost': [
      [op(monstera, 50301, 0, 1), op(monstera, 40902, 2, 3)],
      [],
      ['an acknowledged plant is lost or altered', '409 was sent before a plant could have been stored'],
    ],
    'a 200 whose plant lost its tag': [
      [op(tagged, 200, 0, 1), op(monstera, 40901, 2, 3)],
      [monstera],
      ['an acknowledged plant is lost or altered', '40901 was sent, but no other plant is stored'],
    ],
    'two plants with 200 under one id': [
      [op(monstera, 200, 0, 1), op(ficus, 200, 0, 1)],
      [monstera],
      [
        'an acknowledged plant is lost or altered',
        'two plants were acknowledged under one id',
        '200 was sent twice for one id',
      ],
    ],
    'a second 200 for the same plant': [
      [op(monstera, 200, 0, 1), op(monstera, 200, 2, 3)],
      [monstera],
      ['200 was sent twice for one id'],
    ],
    'a 40901 for the stored plant': [
      [op(monstera, 200, 0, 1), op(monstera, 40901, 2, 3)],
      [monstera],
      ['40901 was sent, but no other plant is stored'],
    ],
    'a 40901 for a free id': [
      [op(ficus, 50301, 0, 1), op(monstera, 40901, 2, 3)],
      [],
      ['40901 was sent, but no other plant is stored', '409 was sent before a plant could have been stored'],
    ],
    'a 40902 for a plant that no other create sent': [
      [op(monstera, 40902, 0, 1)],
      [monstera],
      ['409 was sent before a plant could have been stored'],
    ],
    'a 200 for a create that was sent after the plant was acknowledged': [
      [op(monstera, undefined, 0, 1), op(monstera, 40902, 2, 3), op(monstera, 200, 4, 5)],
      [monstera],
      ['409 was sent before a plant could have been stored'],
    ],
    'a 40901 that ended before the other plant was sent': [
      [op(monstera, 40901, 0, 1), op(ficus, 200, 2, 3)],
      [ficus],
      ['409 was sent before a plant could have been stored'],
    ],
    'a stored plant under an id that no client sent': [[], [monstera], ['a plant that no client sent is stored']],
    'a stored plant that differs from the one sent under its id': [
      [op(monstera, 50301, 0, 1)],
      [ficus],
      ['a plant that no client sent is stored'],
    ],
  };
  for (const [what, [history, stored, rules]] of Object.entries(bad)) {
    it(`finds ${what}`, () => {
      expect(violationsOf(history, stored).map(({ rule }) => rule)).to.deep.equal(rules);
    });
  }
});
