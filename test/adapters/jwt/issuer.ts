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

let keys = 0;

/** A new key pair with an id that no other one has. */
export async function newKey(algorithm = 'ES256'): Promise<Key> {
  return { kid: `key-${++keys}`, algorithm, ...(await generateKeyPair(algorithm, { extractable: true })) };
}

export const ISSUER = 'https://issuer.example/garden';
export const AUDIENCE = 'plant-store';

/** Seconds since 1970, as JWTs have them. */
export function now(): number {
  return Math.floor(Date.now() / 1000);
}

/** What a JWT claims; tests put wrong types into it, too. */
export interface Claims {
  readonly [claim: string]: unknown;
}

/** The claims of a token that is valid for five minutes, with others in their place; `undefined` leaves one out. */
export function claims(others: Claims = {}): Claims {
  return { iss: ISSUER, aud: AUDIENCE, sub: 'gardener', exp: now() + 300, ...others };
}

/** A JWT of `payload`, signed with `key`; `header` has parameters in the place of its own. */
export function sign(
  key: Key,
  payload: Claims = claims(),
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const jwt = new SignJWT({ ...payload }).setProtectedHeader({ alg: key.algorithm, kid: key.kid, ...header });
  return jwt.sign(key.privateKey);
}

/** Something as a part of a JWT. */
export function part(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

/** An HTTP server that publishes keys, on loopback. */
export class Issuer {
  readonly #server: Server;
  readonly #port: number;
  #published: object = { keys: [] };
  #answer: ((response: ServerResponse) => void) | undefined;
  /** How often it was asked for its keys. */
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
    if (typeof address !== 'object' || address === null) throw new TypeError('it listens on a port');
    const issuer = new Issuer(server, address.port);
    listener = (_, response) => issuer.#respond(response);
    await issuer.publish(...keys);
    return issuer;
  }

  get jwksUrl(): URL {
    return new URL(`http://127.0.0.1:${this.#port}/jwks.json`);
  }

  /** Publishes these keys and no others. */
  async publish(...keys: readonly Key[]): Promise<void> {
    const entries = keys.map(async ({ kid, algorithm, publicKey }) => ({
      ...(await exportJWK(publicKey)),
      kid,
      alg: algorithm,
      use: 'sig',
    }));
    this.#published = { keys: await Promise.all(entries) };
  }

  /** Answers like this until it is {@link back}. */
  answerWith(answer: (response: ServerResponse) => void): void {
    this.#answer = answer;
  }

  /** Refuses every connection until it is {@link back}. */
  async away(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server.close(), 'close');
    this.#server.closeAllConnections();
    await closed;
  }

  /** Answers with its keys again. */
  async back(): Promise<void> {
    this.#answer = undefined;
    if (!this.#server.listening) await once(this.#server.listen(this.#port, '127.0.0.1'), 'listening');
  }

  #respond(response: ServerResponse): void {
    this.requests++;
    if (this.#answer) this.#answer(response);
    else response.setHeader('Content-Type', 'application/jwk-set+json').end(JSON.stringify(this.#published));
  }
}
