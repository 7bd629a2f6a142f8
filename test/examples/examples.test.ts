import { once } from 'node:events';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { createContainer, readConfig, services } from '../../composition/index.js';
import { httpContract } from '../contract/http/index.js';
import { tokenVerifierContract } from '../contract/index.js';
import { serve } from '../support/client.js';
import { Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { portOf } from '../support/port.js';
import { TOKEN } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';

describe('The example', () => {
  const folder = temporaryFolder();
  before(() => {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(inRepository(''), join(folder, 'node_modules/plant-store'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  });

  /** Copies an example, so that it imports the package by its name, and returns its path. */
  function copy(example: string): string {
    const path = join(folder, basename(example));
    copyFileSync(inRepository(`docs/examples/${example}`), path);
    return path;
  }

  it('http-contract runs the HTTP contract under node:test, which passes for this service', async () => {
    const file = copy('http-contract/http-contract.test.js');
    const BASE_URL = `http://127.0.0.1:${await serve(folder, { DATABASE_URL: 'memory:' }).port()}`;
    const args = ['--test', '--test-reporter=tap', '--test-name-pattern=^specification', file];
    const nodeTest = new Program(folder, [process.execPath, ...args], { BASE_URL, TOKEN });
    const { exitCode, stdout } = await nodeTest.result();
    expect(exitCode, stdout).to.equal(0);
    const names = [...stdout.matchAll(/^ +ok \d+ - specification: (.*?)(?: # .*)?$/gm)].map(([, name]) => name);
    const expected = httpContract.filter(({ group }) => group === 'specification');
    expect(names).to.deep.equal(expected.map(({ name }) => name));
  });

  describe('introspection', () => {
    /** The only token that the issuer knows. */
    const VALID_TOKEN = 'Correct-horse.battery~staple+/9';
    let isAvailable = true;
    const issuer = createServer(async (req, res) => {
      const isKnown = new URLSearchParams(await text(req)).get('token') === VALID_TOKEN;
      res.statusCode = isAvailable ? 200 : 503;
      res.end(JSON.stringify(isKnown ? { active: true, sub: 'gardener' } : { active: false }));
    });
    before(() => once(issuer.listen(0, '127.0.0.1'), 'listening'));
    after(() => issuer.close());

    const create = async () => {
      process.env['INTROSPECTION_URL'] = `http://127.0.0.1:${portOf(issuer)}`;
      const container = await createContainer(readConfig({}));
      const plugin = await import(copy('introspection/verifier.js'));
      await plugin.default(container);
      return container.getAsync(services.TokenVerifier);
    };
    const { cases } = tokenVerifierContract({
      create,
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

    it('returns the subject', async () => {
      expect(await (await create()).verify(VALID_TOKEN)).to.deep.equal({
        kind: 'valid',
        principal: { subject: 'gardener' },
      });
    });
  });
});
