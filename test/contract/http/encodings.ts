import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Cases } from '../contract.js';
import { chunked, newPlant, type Service } from './service.js';

const BODY_LIMIT_BYTES = 1024 ** 2;
const BOMB_BYTES = 16 * BODY_LIMIT_BYTES;
const CODINGS = Object.entries({ gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync });

const CHUNKED = { 'Transfer-Encoding': 'chunked' };
const GZIP = { 'Content-Encoding': 'gzip' };

/** Expects the outcome of creates with each of some media types. */
const hasType =
  (outcome: number, ...types: readonly (string | undefined)[]) =>
  async (service: Service) => {
    for (const type of types) await service.expectCreate(outcome, newPlant(), { 'Content-Type': type });
  };

/** Expects the outcome of creates with each coding. */
const isCoded =
  (outcome: number, toBody: (compress: (text: string | Buffer) => Buffer) => string | Buffer) =>
  async (service: Service) => {
    for (const [coding, compress] of CODINGS)
      await service.expectCreate(outcome, toBody(compress), { 'Content-Encoding': coding });
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
  'uses the first of two Content-Type headers': (service) =>
    service.expectCreate(41501, newPlant(), { 'Content-Type': 'text/plain', 'content-type': 'application/json' }),

  'accepts Content-Encoding: Identity': (service) =>
    service.expectCreate(200, newPlant(), { 'Content-Encoding': 'Identity' }),
  'accepts gzip, deflate and br, in any letter case': async (service) => {
    for (const [coding, compress] of CODINGS) {
      for (const spelling of [coding, coding.toUpperCase()]) {
        const body = compress(newPlant({ name: 'é漢🌱', tag: 'x'.repeat(100_000) }));
        await service.expectCreate(200, body, { 'Content-Encoding': spelling });
      }
    }
  },
  'responds 41501 to an unknown coding, or two': async (service) => {
    for (const coding of ['x', 'zstd', '*', 'gzip, gzip', 'identity, gzip'])
      await service.expectCreate(41501, gzipSync(newPlant()), { 'Content-Encoding': coding });
  },
  'responds 40001 to a body that is not compressed as it says': isCoded(40001, () => newPlant()),
  'responds 40001 to a compressed body that is cut off': isCoded(40001, (compress) =>
    compress(newPlant()).subarray(0, -1),
  ),
  'responds 40001 to a body that is compressed twice': isCoded(40001, (compress) => compress(compress(newPlant()))),
  'responds 40001 to an empty body that says it is compressed': isCoded(40001, () => ''),
  'responds 40001 to gzip with a wrong checksum': async (service) => {
    const body = gzipSync(newPlant());
    body.writeUInt8(body.readUInt8(body.length - 5) ^ 1, body.length - 5);
    await service.expectCreate(40001, body, GZIP);
  },
  'responds 41301 to a small body that decompresses to 16 MiB': isCoded(41301, (compress) =>
    compress(' '.repeat(BOMB_BYTES)),
  ),
  'ignores what follows the end of a deflate or br body': async (service) => {
    for (const [coding, compress] of CODINGS.slice(1)) {
      const body = Buffer.concat([compress(newPlant()), Buffer.from('more')]);
      await service.expectCreate(200, body, { 'Content-Encoding': coding });
    }
  },

  'accepts a body of 1 MiB, and responds 41301 to one more byte': isLimited((service, body) => service.post(body)),
  'accepts 1 MiB in chunks, and responds 41301 to one more byte': isLimited((service, body) =>
    service.post(chunked(body), CHUNKED),
  ),
  'accepts 1 MiB with gzip, and responds 41301 to one more byte': isLimited((service, body) =>
    service.post(gzipSync(body), GZIP),
  ),
  'accepts 1 MiB with gzip in chunks, and responds 41301 to one more byte': isLimited((service, body) =>
    service.post(chunked(gzipSync(body)), { ...CHUNKED, ...GZIP }),
  ),
  'responds 41301 to a Content-Length of more than 32 bits, before the body arrives': (service) =>
    service.expectCreate(41301, '', { 'Content-Length': '1099511627776' }),
};
