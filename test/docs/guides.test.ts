import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { createContainer, type Plugin, readConfig, services } from '../../composition/index.js';
import type { TokenVerifier } from '../../core/index.js';
import { httpContract } from '../contract/http/index.js';
import { tokenVerifierContract } from '../contract/index.js';
import { catchError } from '../support/catch-error.js';
import { codeBlocks, section } from '../support/guide.js';
import { inRepository } from '../support/paths.js';
import { toPlant } from '../support/plants.js';
import { portOf } from '../support/port.js';
import { readPlants } from '../support/read-plants.js';
import { startService, type TestService, TOKEN } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';

const HTTP_API = 'docs/http-api.md';

describe('The code in the guides', () => {
  const folder = temporaryFolder();
  before(() => {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(inRepository(''), join(folder, 'node_modules/plant-store'));
  });

  /** Writes the first JavaScript block of a section to a file, and returns its path. */
  function writeCode(guide: string, heading: string, name: string): string {
    const code = codeBlocks(section(guide, heading)).find(({ language }) => language === 'js');
    writeFileSync(join(folder, name), code?.text ?? '');
    return join(folder, name);
  }

  describe('for clients', () => {
    const plant = { id: 9007199254740993n, name: 'Monstera', tag: 'indoor' };
    let createPlant: (baseUrl: string, token: string, newPlant: object) => Promise<void>;
    let service: TestService;
    let url: string;
    before(async () => {
      ({ createPlant } = await import(writeCode(HTTP_API, 'Retries', 'create-plant.mjs')));
      service = await startService();
      url = `http://127.0.0.1:${service.port}`;
    });
    after(() => service.stop());

    it('stores a plant once, with its exact id, and does not repeat a rejected request', async () => {
      await createPlant(url, TOKEN, plant);
      await createPlant(url, TOKEN, plant);
      expect(await readPlants(service.repository.readAll())).to.deep.equal([toPlant(plant)]);
      const error = await catchError(createPlant(url, TOKEN, { ...plant, name: 'Ficus' }));
      expect(error).to.have.property('message', 'id belongs to a different plant');
    });

    it('repeats a request without a response, and one that gets a 503', async () => {
      const bodies: string[] = [];
      const server = createServer(async (req, res) => {
        bodies.push(await text(req));
        if (bodies.length === 1) req.socket.destroy();
        else if (bodies.length === 2) res.writeHead(503, { 'Retry-After': '0.001' }).end('busy');
        else res.writeHead(409).end('{"error":40902}');
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      await createPlant(`http://127.0.0.1:${portOf(server)}`, TOKEN, plant);
      expect(bodies).to.deep.equal(Array(3).fill('{"id":9007199254740993,"name":"Monstera","tag":"indoor"}'));
      server.close().closeAllConnections();
    });

    it('runs the HTTP contract under node:test, which passes for this service', async () => {
      const file = writeCode(HTTP_API, 'Test your own implementation', 'contract.test.mjs');
      // With this variable, node:test would report to a parent run.
      const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
      const env = { ...environment, BASE_URL: url, TOKEN };
      const args = ['--test', '--test-reporter=tap', '--test-name-pattern=^specification', file];
      // Rejects if a test fails.
      const { stdout } = await promisify(execFile)(process.execPath, args, { env });
      const names = [...stdout.matchAll(/^ +ok \d+ - specification: (.*?)(?: # .*)?$/gm)].map(([, name]) => name);
      const expected = httpContract.filter(({ group }) => group === 'specification');
      expect(names).to.deep.equal(expected.map(({ name }) => name));
    });
  });

  describe('for token verifiers', () => {
    /** The only token that the issuer knows. */
    const VALID_TOKEN = 'Correct-horse.battery~staple+/9';
    let isAvailable = true;
    const issuer = createServer(async (req, res) => {
      const isKnown = new URLSearchParams(await text(req)).get('token') === VALID_TOKEN;
      res.statusCode = isAvailable ? 200 : 503;
      res.end(JSON.stringify(isKnown ? { active: true, sub: 'gardener' } : { active: false }));
    });
    let url: string;
    let example: { IntrospectionVerifier: new (url: string) => TokenVerifier; default: Plugin };
    before(async () => {
      await once(issuer.listen(0, '127.0.0.1'), 'listening');
      url = `http://127.0.0.1:${portOf(issuer)}`;
      example = await import(writeCode('docs/adapters.md', 'Write a token verifier', 'verifier.mjs'));
    });
    after(() => issuer.close());

    const { cases } = tokenVerifierContract({
      create: async () => new example.IntrospectionVerifier(url),
      validToken: VALID_TOKEN,
      async withIssuerUnavailable(work) {
        isAvailable = false;
        await work().finally(() => {
          isAvailable = true;
        });
      },
    });
    // That case takes ten seconds with an issuer, and the verifier has no cache.
    for (const { name, timeoutMs, run } of cases.filter((each) => !each.name.includes('memory')))
      it(name, run).timeout(timeoutMs);

    it('is a plugin', async () => {
      const container = createContainer(readConfig({ LOG_LEVEL: 'silent', MANAGEMENT_PORT: 'off' }));
      process.env['INTROSPECTION_URL'] = url;
      await example.default(container);
      delete process.env['INTROSPECTION_URL'];
      const verifier = await container.getAsync(services.TokenVerifier);
      expect(await verifier.verify(VALID_TOKEN)).to.deep.equal({ subject: 'gardener' });
    });
  });
});
