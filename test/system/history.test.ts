import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { TestPlant } from '../support/plants.js';
import { type Operation, violationsOf } from './history.js';

/** Plants with the same id. */
const PLANTS: Readonly<Record<string, TestPlant>> = {
  M: { id: 1n, name: 'Monstera' },
  F: { id: 1n, name: 'Ficus' },
  T: { id: 1n, name: 'Monstera', tag: '' },
};
const plantOf = (letter: string) => PLANTS[letter] ?? { id: 0n, name: '' };

/** Parses a history, such as `M200@0-1 F-@2-3`: a plant, its outcome, if any, and the times of start and end. */
function parseHistory(text: string): Operation[] {
  const operations = text.matchAll(/([A-Z])(\d+|-)@(\d)-(\d)/g);
  return [...operations].map(([, letter = '', outcome, sentAt, endedAt]) => {
    const times = { sentAt: Number(sentAt), endedAt: Number(endedAt) };
    return { plant: plantOf(letter), outcome: outcome === '-' ? undefined : Number(outcome), ...times };
  });
}

const LOST = 'an acknowledged plant is lost or altered';
const NO_CONFLICT = '40901 was sent, but no other plant is stored';
const EARLY = '409 was sent before a plant could have been stored';
const UNSENT = 'a plant that no client sent is stored';
const TWICE = '200 was sent twice for one id';

describe('The history checker', () => {
  for (const [title, history, stored, ...rules] of [
    ['accepts a create, a duplicate and conflicts', 'M200@0-1 M40902@2-3 F40901@2-3 T40901@2-3', 'M'],
    ['accepts a duplicate and a conflict that end before the create', 'M200@0-9 M40902@1-2 F40901@1-2', 'M'],
    ['accepts an unknown outcome whose plant is not stored', 'M50301@0-1 M-@2-3', ''],
    ['accepts another plant after an unknown outcome', 'M-@0-1 F200@2-3 M40901@4-5', 'F'],
    ['finds a 200 whose plant is lost', 'M200@0-1', '', LOST],
    ['finds a 40902 whose plant is lost', 'M50301@0-1 M40902@2-3', '', LOST, EARLY],
    ['finds two plants with 200 under one id', 'M200@0-1 F200@0-1', 'M', LOST, TWICE],
    ['finds a 40901 for the stored plant', 'M200@0-1 M40901@2-3', 'M', NO_CONFLICT],
    ['finds a 40902 for a plant that no other create sent', 'M40902@0-1', 'M', EARLY],
    ['finds a 200 to a create that was sent after the acknowledgement', 'M-@0-1 M40902@2-3 M200@4-5', 'M', EARLY],
    ['finds a 40901 that ended before the other plant was sent', 'M40901@0-1 F200@2-3', 'F', EARLY],
    ['finds a stored plant that no client sent', 'M50301@0-1', 'F', UNSENT],
  ] as const) {
    it(title, () => {
      const violations = violationsOf(parseHistory(history), [...stored].map(plantOf));
      expect(violations.map(({ rule }) => rule)).to.deep.equal(rules);
    });
  }
});
