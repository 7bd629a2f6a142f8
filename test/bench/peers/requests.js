// What the peers that store plants check of a request.
import { timingSafeEqual } from 'node:crypto';

export const newPlant = {
  type: 'object',
  required: ['id', 'name'],
  properties: { id: { type: 'integer' }, name: { type: 'string' }, tag: { type: 'string' } },
};

const expected = Buffer.from(`Bearer ${process.env.ACCESS_TOKEN}`);

export function isAuthorized(authorization = '') {
  const given = Buffer.from(authorization);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
