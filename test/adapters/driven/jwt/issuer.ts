import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';

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

/** Returns the current time as a NumericDate (RFC 7519 §2), in seconds. */
export function now(): number {
  return Math.floor(Date.now() / 1000);
}

/** Claims of a JWT, possibly with wrong types. */
export interface Claims {
  readonly [claim: string]: unknown;
}

/** Returns claims that are valid for five minutes, with overrides. `undefined` removes a claim. */
export function claims(overrides: Claims = {}): Claims {
  return { iss: ISSUER, aud: AUDIENCE, sub: 'gardener', exp: now() + 300, ...overrides };
}

/** Signs a JWT of `payload` with `key`. `header` overrides header parameters. */
export function sign(
  key: Key,
  payload: Claims = claims(),
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const jwt = new SignJWT({ ...payload }).setProtectedHeader({ alg: key.algorithm, kid: key.kid, ...header });
  return jwt.sign(key.privateKey);
}

/** Encodes an object as a part of a JWT. */
export function encodePart(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

/** An HTTP server on loopback that publishes keys. */
export class Issuer {
  readonly #server: Server;
  readonly #port: number;
  #published: object = { keys: [] };
  #respondWith: ((response: ServerResponse) => void) | undefined;
  /** Number of requests received. */
  requests = 0;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.#port = port;
  }

  static async start(...keys: readonly Key[]): Promise<Issuer> {
    let listener: RequestListener = () => {};
    const server = createServer((request, response) => listener(request, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new TypeError('the server does not listen on a port');
    const issuer = new Issuer(server, address.port);
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
      kid,
      alg: algorithm,
      use: 'sig',
    }));
    this.#published = { keys: await Promise.all(entries) };
  }

  /** Replaces the response until {@link restore}. */
  respondWith(respond: (response: ServerResponse) => void): void {
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
