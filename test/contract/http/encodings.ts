import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { casesFor, headerCases, outcomeCase, plantStoreCase } from './case.js';
import { chunked, expectOutcome, newPlant, type Service } from './service.js';
import type { HttpCase } from './types.js';

const BODY_LIMIT_BYTES = 1024 ** 2;
const BOMB_BYTES = 16 * BODY_LIMIT_BYTES;
const CODINGS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
const UNKNOWN = ['x', 'compress', 'zstd', 'gzip, gzip', 'gzip, identity', '*'];

type Compress = (body: string | Uint8Array) => Uint8Array;

/** Ways to damage a compressed body. */
const DAMAGES: Readonly<Record<string, (compress: Compress) => string | Uint8Array>> = {
  empty: () => '',
  'not compressed': () => newPlant(),
  'cut off in the middle': (compress) => compress(newPlant()).subarray(0, 10),
  'cut off before the last byte': (compress) => compress(newPlant()).subarray(0, -1),
  'followed by garbage': (compress) => Buffer.concat([compress(newPlant()), Buffer.from('garbage')]),
  'followed by another plant': (compress) => Buffer.concat([compress(newPlant()), Buffer.from(newPlant())]),
  'followed by a NUL and garbage': (compress) => Buffer.concat([compress(newPlant()), Buffer.from('\0garbage')]),
  'compressed twice': (compress) => compress(compress(newPlant())),
  'an empty body': (compress) => compress(''),
};

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
  'gzip that does not shrink it': (service, body) => service.post(gzipSync(body, { level: 0 }), GZIP),
  'gzip in chunks': (service, body) => service.post(chunked(gzipSync(body)), { ...CHUNKED, ...GZIP }),
};

/** Content-Encoding and the size of the body. */
export const encodingCases: readonly HttpCase[] = [
  ...headerCases('Content-Encoding', ['identity', 'Identity'], 200),
  ...Object.entries(CODINGS).flatMap(([coding, compress]) => [
    ...[coding, coding.toUpperCase()].map((spelling) =>
      plantStoreCase(`accepts Content-Encoding: ${spelling}`, async (service) => {
        const body = compress(newPlant({ name: 'é漢🌱', tag: 'x'.repeat(100_000) }));
        expectOutcome(await service.create(body, { 'Content-Encoding': spelling }), 200);
      }),
    ),
    ...casesFor(DAMAGES, `responds 40001 to ${coding} that is %s`, async (service, damage) =>
      expectOutcome(await service.create(damage(compress), { 'Content-Encoding': coding }), 40001),
    ),
    outcomeCase(`responds 41301 to a small ${coding} body that decompresses to 16 MiB`, 41301, (service) =>
      service.create(compress(' '.repeat(BOMB_BYTES)), { 'Content-Encoding': coding }),
    ),
  ]),
  plantStoreCase('responds 40001 to gzip with a wrong checksum', async (service) => {
    const body = gzipSync(newPlant());
    body.writeUInt8(body.readUInt8(body.length - 5) ^ 1, body.length - 5);
    expectOutcome(await service.create(body, GZIP), 40001);
  }),
  plantStoreCase('accepts gzip with two members (RFC 1952 §2.2)', async (service) => {
    const body = newPlant();
    const members = [body.slice(0, 10), body.slice(10)].map((part) => gzipSync(part));
    expectOutcome(await service.create(Buffer.concat(members), GZIP), 200);
  }),
  ...headerCases('Content-Encoding', UNKNOWN, 41501, () => gzipSync(newPlant())),
  ...casesFor(FRAMINGS, 'accepts a body of 1 MiB with %s', async (service, frame) =>
    expectOutcome(await service.send(frame(service, plantOfSize(BODY_LIMIT_BYTES))), 200),
  ),
  ...casesFor(FRAMINGS, 'responds 41301 to a body of 1 MiB and a byte with %s', async (service, frame) =>
    expectOutcome(await service.send(frame(service, plantOfSize(BODY_LIMIT_BYTES + 1))), 41301),
  ),
  outcomeCase('counts white space as part of the body', 41301, (service) =>
    service.create(newPlant() + ' '.repeat(BODY_LIMIT_BYTES)),
  ),
  // Before the body arrives.
  ...headerCases('Content-Length', ['4294967296', '9007199254740993'], 41301, () => ''),
];
