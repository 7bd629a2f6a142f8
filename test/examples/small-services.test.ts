import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { httpContract } from '../contract/http/index.js';
import { create, type TestPlant } from '../support/client.js';
import { Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { TOKEN } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';

for (const file of ['single-file/server.js', 'two-ports/main.js']) {
  for (const GROUP_COMMIT of ['off', 'on']) {
    describe(`The example ${file} with GROUP_COMMIT=${GROUP_COMMIT}`, () => {
      const folder = temporaryFolder();
      let port: number;
      before(async () => {
        const command = [process.execPath, inRepository(`dist/docs/examples/${file}`)] as const;
        const program = new Program(folder, command, { PORT: '0', ACCESS_TOKEN: TOKEN, GROUP_COMMIT });
        program.isLasting = true;
        port = await program.port();
      });

      for (const { name, run, timeoutMs } of httpContract.filter(({ group }) => group === 'specification'))
        it(name, () => run({ baseUrl: `http://127.0.0.1:${port}`, token: TOKEN })).timeout(timeoutMs);

      it('distinguishes a repeated create, an id conflict, an invalid string and success, also in one batch', async () => {
        const createAll = async (...plants: readonly TestPlant[]) => {
          const responses = await Promise.all(plants.map((plant) => create(port, plant)));
          return responses.map((response) => Object(response?.json()).error ?? response?.status);
        };
        expect(await createAll({ id: 7n, name: 'Monstera' })).to.deep.equal([200]);
        const repeated = [
          { id: 7n, name: 'Monstera' },
          { id: 7n, name: 'Ficus' },
        ] as const;
        const outcomes = await createAll(
          ...repeated,
          { id: 8n, name: '\ud800' },
          { id: 9n, name: 'Monstera', tag: 'indoor' },
        );
        expect(outcomes).to.deep.equal([40902, 40901, 40003, 200]);
      });
    });
  }
}
