import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/driven/memory/index.js';
import { CreatePlant, type CreatePlantUseCase, StorageUnavailable } from '../../core/index.js';
import { DESCRIPTION_FILE } from '../adapters/driving/koa/description.js';
import { HEADERS, newPlant, post, TestServer } from '../adapters/driving/koa/support.js';
import { Program } from '../support/executable.js';
import { temporaryFolder } from '../support/temporary.js';
import { installed, NODE_24, skipUnlessExists } from './interop.js';

/** Stores plants, but fails for those with these names. */
function failingUseCase(): CreatePlantUseCase {
  const createPlant = new CreatePlant(new MemoryPlantRepository());
  return {
    async execute(newPlant) {
      if (newPlant.name === 'failing') throw new Error();
      if (newPlant.name === 'unavailable') throw new StorageUnavailable('no response');
      return createPlant.execute(newPlant);
    },
  };
}

const MONSTERA = '{"id":1,"name":"Monstera"}';
/** Outcomes of requests that the proxy accepts. */
const OUTCOMES: readonly (readonly [outcome: number, body: string, headers?: Readonly<Record<string, string>>])[] = [
  [200, MONSTERA],
  [40003, newPlant({ name: '\0' })],
  [40102, newPlant(), { Authorization: 'Bearer wrong' }],
  [40901, '{"id":1,"name":"Ficus"}'],
  [40902, MONSTERA],
  [41301, newPlant({ tag: 'x'.repeat(2000) })],
  [50001, newPlant({ name: 'failing' })],
  [50301, newPlant({ name: 'unavailable' })],
];

describe('A validating proxy (Prism) between a client and the service', () => {
  const folder = temporaryFolder();
  let service: TestServer;
  let url: string;
  before(async function () {
    skipUnlessExists(this, NODE_24);
    service = await TestServer.start({ bodyLimitBytes: 1024, createPlant: failingUseCase() });
    url = await startProxy(DESCRIPTION_FILE);
  });
  after(() => service?.stop());

  /** Starts a proxy for a description and returns its URL. */
  async function startProxy(document: string): Promise<string> {
    const prism = [NODE_24, installed('@stoplight/prism-cli/dist/index.js'), 'proxy', '--errors'] as const;
    const proxy = new Program(folder, [...prism, '--port', '0', document, `http://127.0.0.1:${service.port}`], {});
    return `${(await proxy.waitForOutput(/listening on (http:\S+:\d+)/))[1]}`;
  }

  /** Sends a create through a proxy; returns the outcome and the violations that the proxy found. */
  async function send(proxy: string, body: string, headers = {}) {
    const response = await fetch(`${proxy}/plants`, { method: 'POST', headers: { ...HEADERS, ...headers }, body });
    const { error }: { error?: number } = JSON.parse(await response.text());
    return { outcome: error ?? response.status, violations: response.headers.get('sl-violations') };
  }

  for (const [outcome, body, headers] of OUTCOMES) {
    it(`finds no violation in a response with ${outcome}`, async () => {
      expect(await send(url, body, headers)).to.deep.equal({ outcome, violations: null });
    });
  }

  it('rejects an id above 2⁵³, which it cannot represent; the service accepts it', async () => {
    const body = '{"id":9007199254740993,"name":"Monstera"}';
    expect(await send(url, body)).to.deep.equal({ outcome: 422, violations: null });
    expect(await service.send(post(body))).to.equal(200);
  });

  it('detects that a status, the body or a header differs from another description', async () => {
    const file = join(folder, 'other.yaml');
    const text = readFileSync(DESCRIPTION_FILE, 'utf8').replace('"409":', '"410":');
    writeFileSync(file, text.replace('required: [name]', 'required: [name, id]').replace('minimum: 1', 'minimum: 60'));
    const other = await startProxy(file);
    expect((await send(other, MONSTERA)).violations).to.include('status code');
    expect((await send(other, newPlant())).violations).to.include("property 'id'");
    expect((await send(other, newPlant({ name: 'unavailable' }))).violations).to.include('>= 60');
  });
});
