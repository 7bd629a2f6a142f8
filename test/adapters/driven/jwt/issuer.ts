import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { portOf } from '../../../support/port.js';

/** A key pair of an issuer. */
export interface Key {
  readonly kid: string;
  readonly algorithm: string;
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey;
}

let lastKeyNumber = 0;

/** Generates a key pair with a unique id. */
export async function newKey(algorithm = 'ES256'): Promise<Key> {
  return { kid: `key-${++lastKeyNumber}`, algorithm, ...(await generateKeyPair(algorithm, { extractable: true })) };
}

export const ISSUER = 'https://issuer.example/garden';
export const AUDIENCE = 'plant-store';
export const SUBJECT = 'gardener';

/** Returns the time in this number of seconds as a NumericDate (RFC 7519 §2). */
export function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}

/** Claims or header parameters of a JWT, possibly with wrong types. */
export interface Members {
  readonly [name: string]: unknown;
}

/** Returns claims that are valid for five minutes, with overrides. `undefined` removes a claim. */
export function claims(overrides: Members = {}): Members {
  return { iss: ISSUER, aud: AUDIENCE, sub: SUBJECT, exp: inSeconds(300), ...overrides };
}

/** Signs a JWT that is valid except for the overrides. */
export function sign(key: Key, claimOverrides?: Members, headerOverrides: Members = {}): Promise<string> {
  return new SignJWT({ ...claims(claimOverrides) })
    .setProtectedHeader({ alg: key.algorithm, kid: key.kid, ...headerOverrides })
    .sign(key.privateKey);
}

/** An HTTP server on loopback that publishes keys. */
export class Issuer {
  readonly #server: Server;
  readonly #port: number;
  #published: object = { keys: [] };
  #respondWith: ((response: ServerResponse) => unknown) | undefined;
  /** Number of requests received. */
  requests = 0;

  private constructor(server: Server) {
    this.#server = server;
    this.#port = portOf(server);
  }

  static async start(...keys: readonly Key[]): Promise<Issuer> {
    let listener: RequestListener = () => {};
    const server = createServer((request, response) => listener(request, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const issuer = new Issuer(server);
    listener = (_, response) => issuer.#respond(response);
    await issuer.publish(...keys);
    return issuer;
  }

  get jwksUrl(): URL {
    return new URL(`http://127.0.0.1:${this.#port}/jwks.json`);
  }

  /** Replaces the published keys. */
  async publish(...keys: readonly Key[]): Promise<void> {
    const entries = keys.map(async ({ kid, algorithm, publicKey }) => ({
      ...(await exportJWK(publicKey)),
      ...{ kid, alg: algorithm, use: 'sig' },
    }));
    this.#published = { keys: await Promise.all(entries) };
  }

  /** Replaces the response until {@link restore}. */
  respondWith(respond: (response: ServerResponse) => unknown): void {
    this.#respondWith = respond;
  }

  /** Rejects every connection until {@link restore}. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server.close(), 'close');
    this.#server.closeAllConnections();
    await closed;
  }

  /** Serves the keys again. */
  async restore(): Promise<void> {
    this.#respondWith = undefined;
    if (!this.#server.listening) await once(this.#server.listen(this.#port, '127.0.0.1'), 'listening');
  }

  #respond(response: ServerResponse): void {
    this.requests++;
    if (this.#respondWith) this.#respondWith(response);
    else response.setHeader('Content-Type', 'application/jwk-set+json').end(JSON.stringify(this.#published));
  }
}
