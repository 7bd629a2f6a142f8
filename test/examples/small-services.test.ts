import { before, describe, it } from 'mocha';
import { httpContract } from '../contract/http/index.js';
import { Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { TOKEN } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';

const TOPICS = ['specification', 'ids', 'conflicts'];

for (const file of ['single-file/server.js', 'two-ports/main.js']) {
  for (const GROUP_COMMIT of ['off', 'on']) {
    describe(`The example ${file} with GROUP_COMMIT=${GROUP_COMMIT}`, () => {
      const folder = temporaryFolder();
      let port: number;
      before(async () => {
        const command = [process.execPath, inRepository(`dist/docs/examples/${file}`)] as const;
        port = await new Program(folder, command, { PORT: '0', ACCESS_TOKEN: TOKEN, GROUP_COMMIT }).port();
      });

      for (const { topic, name, run, timeoutMs } of httpContract.filter((each) => TOPICS.includes(each.topic)))
        it(`${topic}: ${name}`, () => run({ baseUrl: `http://127.0.0.1:${port}`, token: TOKEN })).timeout(timeoutMs);
    });
  }
}
