import { once } from 'node:events';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
let keys = 0;
/** A new key pair with an id that no other one has. */
export async function newKey(algorithm = 'ES256') {
    return { kid: `key-${++keys}`, algorithm, ...(await generateKeyPair(algorithm, { extractable: true })) };
}
export const ISSUER = 'https://issuer.example/garden';
export const AUDIENCE = 'plant-store';
/** Seconds since 1970, as JWTs have them. */
export function now() {
    return Math.floor(Date.now() / 1000);
}
/** The claims of a token that is valid for five minutes, with others in their place; `undefined` leaves one out. */
export function claims(others = {}) {
    return { iss: ISSUER, aud: AUDIENCE, sub: 'gardener', exp: now() + 300, ...others };
}
/** A JWT of `payload`, signed with `key`; `header` has parameters in the place of its own. */
export function sign(key, payload = claims(), header = {}) {
    const jwt = new SignJWT({ ...payload }).setProtectedHeader({ alg: key.algorithm, kid: key.kid, ...header });
    return jwt.sign(key.privateKey);
}
/** Something as a part of a JWT. */
export function part(content) {
    return Buffer.from(JSON.stringify(content)).toString('base64url');
}
/** An HTTP server that publishes keys, on loopback. */
export class Issuer {
    #server;
    #port;
    #published = { keys: [] };
    #answer;
    /** How often it was asked for its keys. */
    requests = 0;
    constructor(server, port) {
        this.#server = server;
        this.#port = port;
    }
    static async start(...keys) {
        let listener = () => { };
        const server = createServer((request, response) => listener(request, response));
        await once(server.listen(0, '127.0.0.1'), 'listening');
        const address = server.address();
        if (typeof address !== 'object' || address === null)
            throw new TypeError('it listens on a port');
        const issuer = new Issuer(server, address.port);
        listener = (_, response) => issuer.#respond(response);
        await issuer.publish(...keys);
        return issuer;
    }
    get jwksUrl() {
        return new URL(`http://127.0.0.1:${this.#port}/jwks.json`);
    }
    /** Publishes these keys and no others. */
    async publish(...keys) {
        const entries = keys.map(async ({ kid, algorithm, publicKey }) => ({
            ...(await exportJWK(publicKey)),
            kid,
            alg: algorithm,
            use: 'sig',
        }));
        this.#published = { keys: await Promise.all(entries) };
    }
    /** Answers like this until it is {@link back}. */
    answerWith(answer) {
        this.#answer = answer;
    }
    /** Refuses every connection until it is {@link back}. */
    async away() {
        if (!this.#server.listening)
            return;
        const closed = once(this.#server.close(), 'close');
        this.#server.closeAllConnections();
        await closed;
    }
    /** Answers with its keys again. */
    async back() {
        this.#answer = undefined;
        if (!this.#server.listening)
            await once(this.#server.listen(this.#port, '127.0.0.1'), 'listening');
    }
    #respond(response) {
        this.requests++;
        if (this.#answer)
            this.#answer(response);
        else
            response.setHeader('Content-Type', 'application/jwk-set+json').end(JSON.stringify(this.#published));
    }
}
//# sourceMappingURL=issuer.js.map