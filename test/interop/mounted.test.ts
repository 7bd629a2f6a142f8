import { cpSync } from 'node:fs';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { TOKEN } from '../support/service.js';
import { expectStatedCases } from './http-contract.js';
import { installPackages, outputOf } from './interop.js';

describe('The app, mounted in another one,', () => {
  let folder: string;
  before(() => {
    folder = installPackages();
    cpSync(inRepository('docs/examples'), folder, { recursive: true });
    const options = '--noCheck --experimentalDecorators --module esnext --moduleResolution bundler --target es2023';
    outputOf(folder, ['node', 'node_modules/typescript/bin/tsc', ...options.split(' '), 'mounted/nest.ts']);
  });

  for (const [title, example] of [
    ['of Express meets the cases that docs/embed.md states, and changes no other route', 'mounted/express.js'],
    ['of Fastify meets the cases that docs/embed.md states, and changes no other route', 'mounted/fastify.js'],
    ['of Hono meets the cases that docs/embed.md states, and changes no other route', 'mounted/hono.js'],
    ['of Koa meets the cases that docs/embed.md states, and changes no other route', 'mounted/koa.js'],
    ['of Nest meets the cases that docs/embed.md states, and changes no other route', 'mounted/nest.ts'],
  ] as const) {
    it(title, async () => {
      const settings = { PORT: '0', ACCESS_TOKENS: TOKEN, LOG_LEVEL: 'warn', DATABASE_URL: 'sqlite:mounted.db' };
      const app = new Program(folder, [process.execPath, example.replace('.ts', '.js')], settings);
      const origin = `http://127.0.0.1:${await app.port()}`;
      await expectStatedCases(example, { baseUrl: `${origin}/garden`, token: TOKEN });
      const headers = { 'Content-Type': 'application/json' };
      const notes = (body: string) => fetch(`${origin}/notes`, { method: 'POST', headers, body });
      expect(await (await notes('{"id":9007199254740993}')).text()).to.equal('{"noted":{"id":9007199254740992}}');
      expect((await notes('{"id":')).status).to.equal(400);
    });
  }
});
