import type { Cases } from '../contract.js';
import { chunked, expectHeader, newPlant, type Service } from './service.js';

const BODY_LIMIT_BYTES = 1024 ** 2;

const CHUNKED = { 'Transfer-Encoding': 'chunked' };

/** Expects the outcome of creates with each of some media types. */
const hasType =
  (outcome: number, ...types: readonly (string | undefined)[]) =>
  async (service: Service) => {
    for (const type of types) await service.expectCreate(outcome, newPlant(), { 'Content-Type': type });
  };

/** Expects a body of 1 MiB to be accepted, and one more byte to be rejected. */
const isLimited = (frame: (service: Service, body: string) => Buffer) => async (service: Service) => {
  await service.expect(200, frame(service, plantOfSize(BODY_LIMIT_BYTES)));
  await service.expect(41301, frame(service, plantOfSize(BODY_LIMIT_BYTES + 1)));
};

/** Returns a plant of exactly this many bytes, with characters of one to four bytes. */
function plantOfSize(bytes: number): string {
  const short = newPlant({ name: 'é漢🌱' });
  return short.replace('🌱', `🌱${'x'.repeat(bytes - Buffer.byteLength(short))}`);
}

/** Media type, Content-Encoding and size of the body. */
export const encodingCases: Cases<Service> = {
  'accepts application/json in any letter case': hasType(200, 'Application/JSON', 'APPLICATION/JSON'),
  // The bytes must be UTF-8 anyway.
  'ignores parameters of application/json': hasType(
    200,
    ...[';charset=utf-8', ' ; x="a;b"', '; charset=latin1', ';'].map((parameters) => `application/json${parameters}`),
  ),
  'responds 41501 to another media type, or none': hasType(
    41501,
    ...[undefined, 'json', 'application/jsonl', 'application/problem+json', 'text/json', 'text/plain', '*/*'],
  ),
  'responds 41501 to two media types': hasType(
    41501,
    ...['text/plain, application/json', 'application/json, application/json'],
  ),
  'accepts Content-Encoding: Identity': (service) =>
    service.expectCreate(200, newPlant(), { 'Content-Encoding': 'Identity' }),
  'responds 41501 with Accept-Encoding to any other coding': async (service) => {
    for (const coding of ['gzip', 'deflate', 'BR', 'x', '*', 'gzip, gzip', 'identity, gzip']) {
      const response = await service.expectCreate(41501, newPlant(), { 'Content-Encoding': coding });
      expectHeader(response, 'Accept-Encoding', 'identity');
    }
  },

  'accepts a body of 1 MiB, and responds 41301 to one more byte': isLimited((service, body) => service.post(body)),
  'accepts 1 MiB in chunks, and responds 41301 to one more byte': isLimited((service, body) =>
    service.post(chunked(body), CHUNKED),
  ),
  'responds 41301 to a Content-Length of more than 32 bits, before the body arrives': (service) =>
    service.expectCreate(41301, '', { 'Content-Length': '1099511627776' }),
};
