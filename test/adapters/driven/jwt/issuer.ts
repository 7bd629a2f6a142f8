import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';

let keyNumber = 0;

/** Generates a key pair, with a unique id if it has one; `jwk` is the public key as an issuer publishes it. */
export async function newKey(alg = 'ES256', hasKid = true) {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const kid = hasKid ? `key-${++keyNumber}` : undefined;
  return { kid, alg, publicKey, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

export type Key = Awaited<ReturnType<typeof newKey>>;
type SigningKey = Pick<Key, 'kid' | 'alg'> & { readonly privateKey: CryptoKey | Uint8Array };

export const ISSUER = 'https://issuer.example/garden';
export const AUDIENCE = 'plant-store';

/** Returns the time in this number of seconds as a NumericDate (RFC 7519 §2). */
export function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}

/** Signs a JWT that is valid for five minutes, except for the overrides. `undefined` removes a claim. */
export function sign({ kid, alg, privateKey }: SigningKey, claims: object = {}, header: object = {}): Promise<string> {
  return new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: 'gardener', exp: inSeconds(300), ...claims })
    .setProtectedHeader({ alg, ...(kid !== undefined && { kid }), ...header })
    .sign(privateKey);
}
