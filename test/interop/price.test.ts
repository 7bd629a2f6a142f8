import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { httpContract } from '@plant-store/contract/http';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { TOKEN } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';
import { findFailedCases } from './http-contract.js';

describe('Of the price of the hexagon,', () => {
  const folder = temporaryFolder();

  for (const [title, column, example, main] of [
    ['the single file has the lines, and meets the cases, that docs/price.md states', 1, 'single-file', 'server.js'],
    ['the two ports have the lines, and meet the cases, that docs/price.md states', 2, 'two-ports', 'main.js'],
  ] as const) {
    it(title, async () => {
      const source = inRepository(`docs/examples/${example}`);
      const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
      const lines = files.flatMap((file) => readFileSync(join(source, file), 'utf8').trimEnd().split('\n'));
      const command = [process.execPath, inRepository(`dist/docs/examples/${example}/${main}`)] as const;
      const start = async (GROUP_COMMIT: string) => {
        const files = { DATABASE_FILE: `${example}-${GROUP_COMMIT}.db` };
        const settings = { PORT: '0', ACCESS_TOKEN: TOKEN, GROUP_COMMIT, ...files };
        const port = await new Program(folder, command, settings).port();
        return { baseUrl: `http://127.0.0.1:${port}`, token: TOKEN };
      };
      const failed = await findFailedCases(await start('off'));
      const affected = httpContract.filter(({ topic }) => ['specification', 'ids', 'conflicts'].includes(topic));
      expect(await findFailedCases(await start('on'), affected), 'with group commit').to.deep.equal([]);
      const rows = readFileSync(inRepository('docs/price.md'), 'utf8').split('\n');
      const cell = (title: string) => rows.find((row) => row.includes(title))?.split(' | ')[column];
      expect(cell('lines, files')).to.equal(`${lines.length} in ${files.length}`);
      // One case depends on whether a response is sent before garbage arrives.
      for (const [group, tolerance] of Object.entries({ specification: 0, 'plant-store': 1 })) {
        const [met, all] = (cell(`\`${group}\``) ?? '').split(' of ').map(Number);
        expect(all).to.equal(httpContract.filter((each) => each.group === group).length);
        const missed = failed.filter((each) => each.group === group).length;
        expect(Number(all) - missed).to.be.closeTo(Number(met), tolerance);
      }
    });
  }
});
