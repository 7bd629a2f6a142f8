import { expect } from 'chai';
import { describe, it } from 'mocha';
import { create, newPlant, sharedService, stored, verdict } from '../support.js';
/** Spellings of an id, and the id that they are. */
const IDS = [
    ['9007199254740993', 9007199254740993n],
    ['-9007199254740993', -9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['9223372036854775806', 9223372036854775806n],
    ['-9223372036854775808', -9223372036854775808n],
    ['-9223372036854775807', -9223372036854775807n],
    ['9223372036854775.805e3', 9223372036854775805n],
    ['0.9223372036854775804e19', 9223372036854775804n],
    ['92233720368547758030e-1', 9223372036854775803n],
    ['-0', 0n],
    ['1.0', 1n],
    ['1E3', 1000n],
    ['2e+3', 2000n],
    ['30e-1', 3n],
    ['-4.00', -4n],
    ['5.0e0', 5n],
    ['0.6e1', 6n],
    ['2147483648', 2147483648n],
    ['4294967296', 4294967296n],
];
const ZEROES = ['0e999999', '0.000', '-0.0', '0e-5'];
/** Texts that something on the way might change. */
const TEXTS = {
    'the empty text': '',
    blanks: ' ',
    'leading and trailing blanks': '  x \t ',
    'trailing line breaks': 'x\r\n\n',
    'both letter cases': 'Straße İı ẞ',
    'composed characters': '\u00e9\u1e9b\u0323',
    'decomposed characters': 'e\u0301',
    'a ligature and a full-width letter': 'ﬁＡ',
    'astral characters': '🌱𝒫𠜎',
    'a family': '👨‍👩‍👧‍👦🏳️‍🌈',
    'the last code point': '\u{10ffff}\u{10fffe}\uffff\ufffe',
    'a replacement character': '\ufffd',
    'line and paragraph separators': 'a\u2028b\u2029c',
    'byte order marks': '\ufeffx\ufeff',
    'control characters': '\u0001\b\f\u001b\u007f\u0085\u009f',
    'text in both directions': 'a\u202eb\u05d0\u0627',
    'quotes and backslashes': '"\\\'`/\\u0000\\"',
    SQL: "'); DROP TABLE plants; --",
    'percent and underscore': '100%_\\%',
    HTML: '<script>&amp;</script>',
    digits: '007',
    'a null by its name': 'null',
    'a long text': 'é漢🌱'.repeat(50_000),
};
/** What is created. */
export function plants(start) {
    describe('created plants', () => {
        const service = sharedService(start);
        const storedUnder = async (id) => (await stored(service())).find((plant) => plant.id === id);
        for (const [spelling, id] of IDS) {
            it(`keeps the id ${spelling} as ${id}`, async () => {
                expect(verdict(await create(service(), `{"id":${spelling},"name":"${id}"}`))).to.equal(200);
                expect(await storedUnder(id)).to.deep.equal({ id, name: `${id}`, tag: undefined });
            });
        }
        for (const zero of ZEROES) {
            it(`takes the id ${zero} for 0`, async () => {
                await create(service(), '{"id":0,"name":"0"}');
                expect(verdict(await create(service(), `{"id":${zero},"name":"0"}`))).to.equal(40902);
            });
        }
        for (const [what, text] of Object.entries(TEXTS)) {
            it(`keeps ${what} code point for code point`, async () => {
                const id = BigInt(JSON.parse(newPlant()).id);
                const answer = await create(service(), JSON.stringify({ id: Number(id), name: text, tag: text }));
                expect(verdict(answer)).to.equal(200);
                expect(answer?.json()).to.deep.equal({ name: text, tag: text });
                expect(await storedUnder(id)).to.deep.equal({ id, name: text, tag: text });
            });
        }
        it('answers with name alone where the request had no tag', async () => {
            const answer = await create(service(), newPlant({ name: 'x' }));
            expect(answer).to.include({ status: 200, body: '{"name":"x"}' });
        });
        it('answers with an empty tag where the request had one', async () => {
            const answer = await create(service(), newPlant({ name: '', tag: '' }));
            expect(answer?.json()).to.deep.equal({ name: '', tag: '' });
        });
        it('answers as application/json, without parameters', async () => {
            const answer = await create(service());
            expect(answer?.headers).to.include({ 'content-type': 'application/json' });
        });
        const accepted = {
            'unknown fields': ['{"id":101,"name":"x","colour":"green","Tag":1,"nested":{"id":"y"}}', { name: 'x' }],
            'a __proto__ key': ['{"id":102,"name":"x","__proto__":{"tag":"y"}}', { name: 'x' }],
            'a constructor key': ['{"id":103,"name":"x","constructor":{"prototype":{"tag":"y"}}}', { name: 'x' }],
            'a byte order mark before the text': ['\ufeff{"id":104,"name":"x"}', { name: 'x' }],
            'white space around everything': ['\r\n\t { "id" : 105 , "name"\n:\t"x" } \n', { name: 'x' }],
            'surrogates written as a pair of escapes': ['{"id":106,"name":"\\ud83c\\udf31"}', { name: '🌱' }],
            'keys written with escapes': ['{"\\u0069d":107,"\\u006eame":"x","t\\u0061g":"y"}', { name: 'x', tag: 'y' }],
            'of equal keys the last': [
                '{"id":"1","id":108,"name":1,"name":"x","tag":"a","tag":"b"}',
                { name: 'x', tag: 'b' },
            ],
            'ids inside other fields, beside its own': [
                '{"x":{"id":1.5},"id":109,"y":[{"id":"z"}],"name":"x"}',
                { name: 'x' },
            ],
            'text that looks like an id': [
                '{"name":"\\"id\\":1.5,","id":110,"tag":"{\\\\"}',
                { name: '"id":1.5,', tag: '{\\' },
            ],
            'a nest of 100,000 arrays in an unknown field': [
                `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)},"id":111,"name":"x"}`,
                { name: 'x' },
            ],
            'a nest of 100,000 objects in an unknown field': [
                `{"x":${'{"id":'.repeat(100_000)}1.5${'}'.repeat(100_000)},"id":112,"name":"x"}`,
                { name: 'x' },
            ],
            '10,000 keys': [
                `{${Array.from({ length: 10_000 }, (_, index) => `"k${index}":${index}`).join()},"id":113,"name":"x"}`,
                { name: 'x' },
            ],
            'U+0000 in an unknown field': ['{"id":114,"name":"x","\\u0000":"\\ud800"}', { name: 'x' }],
        };
        for (const [what, [body, plant]] of Object.entries(accepted)) {
            it(`takes ${what}`, async () => {
                const answer = await create(service(), body);
                expect(verdict(answer)).to.equal(200);
                expect(answer?.json()).to.deep.equal(plant);
            });
        }
        it('stores equal keys as the last says', async () => {
            await create(service(), '{"id":201,"id":202,"name":"a","name":"b"}');
            expect(await storedUnder(201n)).to.equal(undefined);
            expect(await storedUnder(202n)).to.deep.equal({ id: 202n, name: 'b', tag: undefined });
        });
    });
}
//# sourceMappingURL=plants.js.map