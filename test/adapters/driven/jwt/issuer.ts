import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';

/** A key pair of an issuer. */
export interface Key {
  readonly kid: string | undefined;
  readonly alg: string;
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey | Uint8Array;
  /** The public key as the issuer publishes it. */
  readonly jwk: object;
}

let keyNumber = 0;

/** Generates a key pair, with a unique id if it has one. */
export async function newKey(alg = 'ES256', hasKid = true): Promise<Key> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const kid = hasKid ? `key-${++keyNumber}` : undefined;
  return { kid, alg, publicKey, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

export const ISSUER = 'https://issuer.example/garden';
export const AUDIENCE = 'plant-store';

/** Returns the time in this number of seconds as a NumericDate (RFC 7519 §2). */
export function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}

/** Signs a JWT that is valid for five minutes, except for the overrides. `undefined` removes a claim. */
export function sign({ kid, alg, privateKey }: Key, claims: object = {}, header: object = {}): Promise<string> {
  return new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: 'gardener', exp: inSeconds(300), ...claims })
    .setProtectedHeader({ alg, ...(kid !== undefined && { kid }), ...header })
    .sign(privateKey);
}
