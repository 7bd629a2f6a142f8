import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { casesFor, examplesCases, outcomeCase, plantStoreCase } from './case.js';
import { chunked, expectOutcome, newPlant, type Service } from './service.js';
import type { HttpCase } from './types.js';

const BODY_LIMIT_BYTES = 1024 ** 2;
const BOMB_BYTES = 16 * BODY_LIMIT_BYTES;
const CODINGS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };

const JSON_TYPES = {
  'in any letter case': ['Application/JSON', 'APPLICATION/JSON'],
  // The bytes must be UTF-8 anyway.
  'with parameters, which it ignores': [';charset=utf-8', ' ; x="a;b"', '; charset=latin1', ';'].map(
    (parameters) => `application/json${parameters}`,
  ),
};
const OTHER_TYPES = {
  'another media type': ['json', 'application/jsonl', 'application/problem+json', 'text/json', 'text/plain', '*/*'],
  'two media types': ['text/plain, application/json', 'application/json, application/json'],
};
const UNKNOWN_CODINGS = { 'an unknown coding': ['x', 'zstd', '*'], 'two codings': ['gzip, gzip', 'identity, gzip'] };

/** Returns a plant of exactly this many bytes, with characters of one to four bytes. */
function plantOfSize(bytes: number): string {
  const short = newPlant({ name: 'é漢🌱' });
  return short.replace('🌱', `🌱${'x'.repeat(bytes - Buffer.byteLength(short))}`);
}

const CHUNKED = { 'Transfer-Encoding': 'chunked' };
const GZIP = { 'Content-Encoding': 'gzip' };

const FRAMINGS: Readonly<Record<string, (service: Service, body: string) => Buffer>> = {
  'a Content-Length': (service, body) => service.post(body),
  chunks: (service, body) => service.post(chunked(body), CHUNKED),
  gzip: (service, body) => service.post(gzipSync(body), GZIP),
  'gzip in chunks': (service, body) => service.post(chunked(gzipSync(body)), { ...CHUNKED, ...GZIP }),
};

/** Media type, Content-Encoding and size of the body. */
export const encodingCases: readonly HttpCase[] = [
  ...examplesCases(JSON_TYPES, 'accepts application/json %s', 200, (service, type) =>
    service.create(newPlant(), { 'Content-Type': type }),
  ),
  ...examplesCases(OTHER_TYPES, 'responds 41501 to %s', 41501, (service, type) =>
    service.create(newPlant(), { 'Content-Type': type }),
  ),
  outcomeCase('responds 41501 to a body without Content-Type', 41501, (service) =>
    service.create(newPlant(), { 'Content-Type': undefined }),
  ),
  outcomeCase('uses the first of two Content-Type headers', 41501, (service) =>
    service.create(newPlant(), { 'Content-Type': 'text/plain', 'content-type': 'application/json' }),
  ),

  outcomeCase('accepts Content-Encoding: Identity', 200, (service) =>
    service.create(newPlant(), { 'Content-Encoding': 'Identity' }),
  ),
  ...examplesCases(UNKNOWN_CODINGS, 'responds 41501 to Content-Encoding with %s', 41501, (service, coding) =>
    service.create(gzipSync(newPlant()), { 'Content-Encoding': coding }),
  ),
  ...Object.entries(CODINGS).flatMap(([coding, compress]) => [
    plantStoreCase(`accepts Content-Encoding: ${coding}, in any letter case`, async (service) => {
      for (const spelling of [coding, coding.toUpperCase()]) {
        const body = compress(newPlant({ name: 'é漢🌱', tag: 'x'.repeat(100_000) }));
        expectOutcome(await service.create(body, { 'Content-Encoding': spelling }), 200);
      }
    }),
    ...casesFor(
      {
        'not compressed': newPlant,
        'cut off': () => compress(newPlant()).subarray(0, -1),
        'compressed twice': () => compress(compress(newPlant())),
        absent: () => '',
      },
      `responds 40001 to a ${coding} body that is %s`,
      async (service, toBody) => expectOutcome(await service.create(toBody(), { 'Content-Encoding': coding }), 40001),
    ),
    outcomeCase(`responds 41301 to a small ${coding} body that decompresses to 16 MiB`, 41301, (service) =>
      service.create(compress(' '.repeat(BOMB_BYTES)), { 'Content-Encoding': coding }),
    ),
  ]),
  ...(['deflate', 'br'] as const).map((coding) =>
    outcomeCase(`ignores what follows the end of a ${coding} body`, 200, (service) =>
      service.create(Buffer.concat([CODINGS[coding](newPlant()), Buffer.from('more')]), { 'Content-Encoding': coding }),
    ),
  ),
  plantStoreCase('responds 40001 to gzip with a wrong checksum', async (service) => {
    const body = gzipSync(newPlant());
    body.writeUInt8(body.readUInt8(body.length - 5) ^ 1, body.length - 5);
    expectOutcome(await service.create(body, GZIP), 40001);
  }),
  ...casesFor(
    FRAMINGS,
    'accepts a body of 1 MiB with %s, and responds 41301 to one more byte',
    async (service, frame) => {
      expectOutcome(await service.send(frame(service, plantOfSize(BODY_LIMIT_BYTES))), 200);
      expectOutcome(await service.send(frame(service, plantOfSize(BODY_LIMIT_BYTES + 1))), 41301);
    },
  ),
  outcomeCase('responds 41301 to a Content-Length of more than 32 bits, before the body arrives', 41301, (service) =>
    service.create('', { 'Content-Length': '1099511627776' }),
  ),
];
