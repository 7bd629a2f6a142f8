import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { portOf } from '../../../support/port.js';

/** A key pair of an issuer. */
export interface Key {
  /** Published with the key, and in the header of its tokens, unless it is `undefined`. */
  readonly kid: string | undefined;
  readonly algorithm: string;
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey | Uint8Array;
}

let lastKeyNumber = 0;

/** Generates a key pair, by default with a unique id. */
export async function newKey(algorithm = 'ES256', kid: string | null = `key-${++lastKeyNumber}`): Promise<Key> {
  return { kid: kid ?? undefined, algorithm, ...(await generateKeyPair(algorithm, { extractable: true })) };
}

export const ISSUER = 'https://issuer.example/garden';
export const AUDIENCE = 'plant-store';
export const SUBJECT = 'gardener';

/** Returns the time in this number of seconds as a NumericDate (RFC 7519 §2). */
export function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}

/** Signs a JWT that is valid for five minutes, except for the overrides. `undefined` removes a claim. */
export function sign({ kid, algorithm: alg, privateKey }: Key, claims: object = {}, header: object = {}) {
  return new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: SUBJECT, exp: inSeconds(300), ...claims })
    .setProtectedHeader({ alg, ...(kid !== undefined && { kid }), ...header })
    .sign(privateKey);
}

/** An HTTP server on loopback that publishes keys. */
export class Issuer {
  readonly #server = createServer((_, response) => {
    this.requests++;
    this.respond(response);
  });
  #port = 0;
  #keySet = '';
  /** Number of requests received. */
  requests = 0;
  /** Sends the keys, unless a test replaces it. */
  respond = (response: ServerResponse): unknown => response.end(this.#keySet);

  static async start(...keys: readonly Key[]): Promise<Issuer> {
    const issuer = new Issuer();
    await issuer.publish(...keys);
    await issuer.restart();
    issuer.#port = portOf(issuer.#server);
    return issuer;
  }

  get jwksUrl(): URL {
    return new URL(`http://127.0.0.1:${this.#port}/jwks.json`);
  }

  /** Replaces the published keys, and sends them. */
  async publish(...keys: readonly Key[]): Promise<void> {
    const toJwk = async ({ kid, algorithm: alg, publicKey }: Key) => {
      return { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
    };
    this.#keySet = JSON.stringify({ keys: await Promise.all(keys.map(toJwk)) });
    this.respond = (response) => response.end(this.#keySet);
  }

  /** Refuses every connection until {@link restart}. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server.close(), 'close');
    this.#server.closeAllConnections();
    await closed;
  }

  async restart(): Promise<void> {
    await once(this.#server.listen(this.#port, '127.0.0.1'), 'listening');
  }
}
