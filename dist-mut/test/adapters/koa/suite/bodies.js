import { expect } from 'chai';
import { describe, it } from 'mocha';
import { exchange, request } from '../../../support/raw-http.js';
import { create, HEADERS, sharedService, stored, verdict } from '../support.js';
const nested = (open, close, times) => open.repeat(times) + close.repeat(times);
const latin1 = (text) => Buffer.from(text, 'latin1');
const NOT_JSON = {
    'blanks only': ' \n\t ',
    'a byte order mark only': '\ufeff',
    'two byte order marks': '\ufeff\ufeff{"id":1,"name":"x"}',
    'cut off': '{"id":1,"name":"x"',
    'followed by garbage': '{"id":1,"name":"x"}x',
    'followed by a second text': '{"id":1,"name":"x"}{"id":2,"name":"x"}',
    'followed by a NUL': '{"id":1,"name":"x"}\0',
    'with a trailing comma': '{"id":1,"name":"x",}',
    'with a comment': '{"id":1,"name":"x"}//',
    'with single quotes': "{'id':1,'name':'x'}",
    'with a bare key': '{id:1,"name":"x"}',
    'with a leading zero': '{"id":01,"name":"x"}',
    'with a leading plus': '{"id":+1,"name":"x"}',
    'with a number that ends in a point': '{"id":1.,"name":"x"}',
    'with a hexadecimal number': '{"id":0x1,"name":"x"}',
    'with NaN': '{"id":NaN,"name":"x"}',
    'with a line break in a text': '{"id":1,"name":"a\nb"}',
    'with an unknown escape': '{"id":1,"name":"\\x41"}',
    'with a cut escape': '{"id":1,"name":"\\u12"}',
    'a form': 'id=1&name=x',
    'Latin-1': latin1('{"id":1,"name":"Farn\xe9"}'),
    'with a byte that is never UTF-8, in an unknown field': latin1('{"id":1,"name":"x","y":"\xff"}'),
    'with a cut character at its end': latin1('{"id":1,"name":"x"}\xe2\x82'),
    'with an overlong character': latin1('{"id":1,"name":"\xc0\xaf"}'),
    'with a surrogate as bytes': latin1('{"id":1,"name":"\xed\xa0\x80"}'),
    'with a character beyond Unicode': latin1('{"id":1,"name":"\xf4\x90\x80\x80"}'),
    'in UTF-16': Buffer.from('\ufeff{"id":1,"name":"x"}', 'utf16le'),
    '100,000 brackets that are not closed': '['.repeat(100_000),
};
const NOT_A_NEW_PLANT = {
    'an array': '[]',
    'an array of plants': '[{"id":1,"name":"x"}]',
    'a text': '"x"',
    'a number': '1',
    null: 'null',
    true: 'true',
    'an empty object': '{}',
    'without id': '{"name":"x"}',
    'without name': '{"id":1}',
    'with the fields in other letter case': '{"ID":1,"Name":"x"}',
    'with name null': '{"id":1,"name":null}',
    'with name a number': '{"id":1,"name":7}',
    'with name an array': '{"id":1,"name":["x"]}',
    'with name an object': '{"id":1,"name":{}}',
    'with tag null': '{"id":1,"name":"x","tag":null}',
    'with tag false': '{"id":1,"name":"x","tag":false}',
    'with the fields behind __proto__': '{"__proto__":{"id":1,"name":"x"}}',
    'with id behind __proto__': '{"__proto__":{"id":1},"name":"x"}',
    'with the last of equal names of the wrong type': '{"id":1,"name":"x","name":1}',
    'with the last of equal ids of the wrong type': '{"id":1,"id":"1","name":"x"}',
    'with the last of equal ids a fraction, written as an escape': '{"id":1,"\\u0069d":1.5,"name":"x"}',
    'with a nest for a name': `{"id":1,"name":${nested('[', ']', 100_000)}}`,
};
const NO_IDS = [
    '1.5',
    '-0.1',
    '1e-1',
    '1e-400',
    '1e400',
    '-1e400',
    '1e19',
    '9223372036854775808',
    '-9223372036854775809',
    '9223372036854775807.5',
    '9007199254740992.5',
    '18446744073709551616',
    '0.99999999999999999999999',
    '9'.repeat(1000),
    '1e99999999999999999999',
    '1e-99999999999999999999',
    '"1"',
    '""',
    'null',
    'true',
    '[1]',
    '{}',
    '{"id":1}',
];
const UNFAITHFUL = ['\\u0000', 'a\\u0000b', '\\ud800', '\\udc00', 'a\\ud83c', '\\udf31\\ud83c', '\\ud800x\\udc00'];
/** What a body must not be. */
export function bodies(start) {
    describe('refused bodies', () => {
        const service = sharedService(start);
        const empty = {
            'without Content-Length': HEADERS,
            'with Content-Length: 0': { ...HEADERS, 'Content-Length': '0' },
            'of no chunks': { ...HEADERS, 'Transfer-Encoding': 'chunked' },
        };
        for (const [what, headers] of Object.entries(empty)) {
            it(`an empty body ${what} is no JSON text`, async () => {
                const end = 'Transfer-Encoding' in headers ? '0\r\n\r\n' : '';
                expect(verdict(await exchange(service().port, request('POST /plants', headers, end)))).to.equal(40001);
            });
        }
        for (const [what, body] of Object.entries(NOT_JSON)) {
            it(`${what} is no JSON text in UTF-8`, async () => {
                expect(verdict(await create(service(), body))).to.equal(40001);
            });
        }
        for (const [what, body] of Object.entries(NOT_A_NEW_PLANT)) {
            it(`${what} is no NewPlant`, async () => {
                expect(verdict(await create(service(), body))).to.equal(40002);
            });
        }
        for (const id of NO_IDS) {
            it(`an id of ${id.slice(0, 40)} is none, and the message names the field`, async () => {
                const answer = await create(service(), `{"name":"x","id":${id}}`);
                expect(verdict(answer)).to.equal(40002);
                expect(answer?.json())
                    .to.have.property('message')
                    .that.matches(/\bid\b/);
            });
        }
        it('a mebibyte of digits is no id, and no work', async () => {
            for (const digits of ['9'.repeat(1_000_000), `1${'0'.repeat(1_000_000)}`, `0.${'1'.repeat(1_000_000)}`]) {
                expect(verdict(await create(service(), `{"name":"x","id":${digits}}`))).to.equal(40002);
            }
        });
        for (const field of ['name', 'tag']) {
            for (const text of UNFAITHFUL) {
                it(`a ${field} with ${text} cannot be kept, and the message names the field`, async () => {
                    const answer = await create(service(), `{"id":1,"name":"x","${field}":"${text}"}`);
                    expect(verdict(answer)).to.equal(40003);
                    expect(answer?.json())
                        .to.have.property('message')
                        .that.matches(new RegExp(`\\b${field}\\b`));
                });
            }
        }
        it('names every field that is wrong', async () => {
            const answer = await create(service(), '{"id":"1","tag":7}');
            expect(answer?.json())
                .to.have.property('message')
                .that.matches(/\bid\b/)
                .and.matches(/\bname\b/)
                .and.matches(/\btag\b/);
        });
        it('stores nothing of all these', async () => {
            expect(await stored(service())).to.be.empty;
        });
    });
}
//# sourceMappingURL=bodies.js.map