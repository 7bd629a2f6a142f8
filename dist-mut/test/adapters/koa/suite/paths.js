import { expect } from 'chai';
import { describe, it } from 'mocha';
import { exchange, RawClient, request } from '../../../support/raw-http.js';
import { create, HEADERS, newPlant, sharedService, startInTest, verdict } from '../support.js';
const NO_SUCH_PATH = [
    '/PLANTS',
    '/Plants',
    '/plants/',
    '//plants',
    '/plants//',
    '/plants/1',
    '/plants.json',
    '/plants;v=1',
    '/./plants',
    '/plants/../plants',
    '/%70lants',
    '/plants%2F',
    '/plants%00',
    '/plants%',
    '/openapi.JSON',
    '/openapi.json/',
    'http://test/plants/',
    'http://[::1/x',
];
const METHODS = ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH', 'M-SEARCH', 'PURGE'];
/** Which paths and methods there are. */
export function paths(start) {
    describe('paths and methods', () => {
        const service = sharedService(start);
        const startOne = startInTest(start);
        const send = async (startLine, body = newPlant()) => exchange(service().port, request(startLine, HEADERS, body));
        for (const target of [
            '/plants',
            '/plants?',
            '/plants?id=7&name=x',
            '/plants??/',
            'http://test/plants',
            'HTTP://test:1/plants?x',
        ]) {
            it(`creates a plant at ${target}`, async () => {
                expect(verdict(await send(`POST ${target}`))).to.equal(200);
            });
        }
        for (const target of NO_SUCH_PATH) {
            it(`finds nothing at ${target}`, async () => {
                expect(verdict(await send(`POST ${target}`))).to.equal(40401);
            });
        }
        for (const method of METHODS) {
            it(`does not allow ${method} on plants, and says what is allowed`, async () => {
                const answer = await send(`${method} /plants`, '');
                expect(verdict(answer)).to.equal(40501);
                expect(answer?.headers).to.include({ allow: 'POST' });
            });
        }
        it('does not allow HEAD on plants, and answers it without a body', async () => {
            const client = await RawClient.connect(service().port);
            const head = await client.send(request('HEAD /plants')).answer('HEAD');
            expect(head).to.include({ status: 405 }).and.have.nested.include({ 'headers.allow': 'POST' });
            expect(verdict(await client.send(request('GET /plants')).answer()), 'the next answer').to.equal(40501);
            client.close();
        });
        it('answers CONNECT as any other method, and closes the connection', async () => {
            const targets = { '/plants': 40501, 'test:443': 40401, '*': 40401 };
            for (const [target, error] of Object.entries(targets)) {
                const client = await RawClient.connect(service().port);
                const answers = await client.send(request(`CONNECT ${target}`)).answersToEnd();
                expect(answers.map(verdict), target).to.deep.equal([error]);
                expect(answers[0]?.headers).to.include({ connection: 'close' });
            }
        });
        it('survives a client that resets its connection after CONNECT', async () => {
            const clients = await Promise.all(Array.from({ length: 10 }, () => RawClient.connect(service().port)));
            for (const client of clients) {
                client.send(request('CONNECT test:443'));
                client.socket.resetAndDestroy();
            }
            expect(verdict(await create(service()))).to.equal(200);
        });
        it('finds nothing at *', async () => {
            expect(verdict(await send('OPTIONS *', ''))).to.equal(40401);
        });
        it('goes on in HTTP/1.1 where a client asks for another protocol', async () => {
            const upgrade = {
                ...HEADERS,
                Connection: 'Upgrade, HTTP2-Settings',
                Upgrade: 'h2c',
                'HTTP2-Settings': 'AAMAAABk',
            };
            expect(verdict(await exchange(service().port, request('POST /plants', upgrade, newPlant())))).to.equal(200);
        });
        it('sends no CORS headers, to a preflight request neither', async () => {
            const origin = { Origin: 'https://example.org', 'Access-Control-Request-Method': 'POST' };
            for (const startLine of ['OPTIONS /plants', 'POST /plants', 'GET /openapi.json', 'GET /']) {
                const answer = await exchange(service().port, request(startLine, { ...HEADERS, ...origin }));
                expect(Object.keys(answer?.headers ?? {}).join(), startLine).to.not.match(/access-control|^$/);
            }
        });
        it('stands under BASE_PATH, and nowhere else', async () => {
            const { port } = await startOne({ BASE_PATH: '/a.b/~garden' });
            const targets = {
                '/a.b/~garden/plants': 200,
                '/a.b/~garden/plants?x': 200,
                'http://test/a.b/~garden/plants': 200,
                '/plants': 40401,
                '/a.b/plants': 40401,
                '/axb/~garden/plants': 40401,
                '/A.B/~garden/plants': 40401,
                '/a.b/~garden//plants': 40401,
                '//a.b/~garden/plants': 40401,
                '/openapi.json': 40401,
            };
            for (const [target, expected] of Object.entries(targets)) {
                const answer = await exchange(port, request(`POST ${target}`, HEADERS, newPlant()));
                expect(verdict(answer), target).to.equal(expected);
            }
        });
    });
}
//# sourceMappingURL=paths.js.map