import { expect } from 'chai';
import { after, afterEach, before } from 'mocha';
import { services } from '../../../composition/container.js';
import { exchange, RawClient, request } from '../../support/raw-http.js';
import { TOKEN } from '../../support/service.js';
/** What a create needs beside its body. */
export const HEADERS = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
/** One service for all tests of the surrounding suite. */
export function sharedService(start, environment = {}) {
    let service;
    before(async () => {
        service = await start({ SHUTDOWN_TIMEOUT: '500ms', ...environment });
    });
    after(() => service?.stop());
    return () => {
        if (service === undefined)
            throw new TypeError('the service runs inside tests only');
        return service;
    };
}
/** The same way of starting, for services that end with the test that started them, or with its suite. */
export function startInTest(start, endsWith = afterEach) {
    const running = [];
    endsWith(async () => {
        for (const service of running.splice(0))
            await service.stop();
    });
    return async (environment = {}, rebind) => {
        const service = await start({ SHUTDOWN_TIMEOUT: '500ms', ...environment }, rebind);
        running.push(service);
        return service;
    };
}
/** Beyond every id that a test writes down itself. */
let lastId = 10_000_000;
/** The JSON text of a NewPlant under an id that no other test uses. */
export function newPlant(fields = {}) {
    return JSON.stringify({ id: ++lastId, name: 'Monstera', ...fields });
}
/** The bytes of a create. */
export function post(body = newPlant(), headers = {}) {
    return request('POST /plants', { ...HEADERS, ...headers }, body);
}
/** The head of a create whose body is still to come. */
export function postHead(headers) {
    return post('', headers);
}
/** Sends a create over a connection of its own. */
export function create({ port }, body, headers) {
    return exchange(port, post(body, headers));
}
/** 200, or the number of an Error; whatever is no proper answer of this service fails here. */
export function verdict(answer) {
    if (answer === undefined)
        throw new Error('the connection ended without an answer');
    expect(answer.headers).to.include({ 'content-type': 'application/json' });
    expect(answer.headers['x-request-id']).to.match(/^[\w.:-]{1,128}$/);
    if (answer.status === 200)
        return 200;
    const { error, message, ...more } = Object(answer.json());
    expect(more).to.be.empty;
    expect(message).to.be.a('string').and.not.be.empty;
    expect(error).to.be.within(answer.status * 100, answer.status * 100 + 99);
    return Number(error);
}
/** Checks that a client is told when to come again, in whole seconds. */
export function expectRetryAfter(answer) {
    expect(answer?.headers['retry-after']).to.match(/^[1-9]\d{0,2}$/);
}
/** Creates again and again until there is a place; one that never comes back ends in the time limit of the test. */
export async function firstServed(service) {
    for (;;) {
        const result = verdict(await create(service));
        if (result !== 50302)
            return result;
    }
}
/** Sends everything over one connection, for the verdicts of all answers up to its end. */
export async function verdictsToEnd({ port }, bytes) {
    const client = await RawClient.connect(port);
    return (await client.send(bytes).answersToEnd()).map(verdict);
}
/** Resolves when the service has read what other clients had sent it: it has answered this one. */
export async function servedMeanwhile({ port }) {
    expect(verdict(await exchange(port, request('GET /plants')))).to.equal(40501);
}
/** Everything that is stored. */
export async function stored({ plants }) {
    const all = [];
    for await (const batch of plants.readAll())
        all.push(...batch.map(({ id, name, tag }) => ({ id, name, tag })));
    return all;
}
/** Puts `add` before the `add` of the repository that the container has. */
export function withAdd(add) {
    return (container) => container.onActivation(services.PlantRepository, (_, repository) => ({
        add: (plants) => add(plants, repository),
        readAll: () => repository.readAll(),
        ready: () => repository.ready(),
        close: () => repository.close(),
    }));
}
/** Holds up whoever passes, until it is opened. */
export class Gate {
    #open = () => { };
    #opened = new Promise((resolve) => {
        this.#open = resolve;
    });
    #arrived = () => { };
    /** Resolves when somebody stands before the gate. */
    arrived = new Promise((resolve) => {
        this.#arrived = resolve;
    });
    /** Waits at the gate. */
    async pass() {
        this.#arrived();
        await this.#opened;
    }
    open() {
        this.#open();
    }
    /** A gate before the check of the first token. */
    beforeFirstVerify() {
        let first = true;
        return (container) => container.rebind(services.TokenVerifier).toResolvedValue((verifier) => ({
            verify: async (token) => {
                const wait = first;
                first = false;
                if (wait)
                    await this.pass();
                return verifier.verify(token);
            },
        }), [services.StaticTokens]);
    }
    /** A gate before the storage. */
    beforeAdd() {
        return withAdd(async (plants, repository) => {
            await this.pass();
            return repository.add(plants);
        });
    }
}
//# sourceMappingURL=support.js.map