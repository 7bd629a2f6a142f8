import { cpSync } from 'node:fs';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { TOKEN } from '../support/service.js';
import { expectStatedCases } from './http-contract.js';
import { installPackages, outputOf } from './interop.js';

const EXAMPLES = [
  ['of Express, meets the cases that docs/embed.md states, and changes no other route', 'express.js'],
  ['of Fastify, meets the cases that docs/embed.md states, and changes no other route', 'fastify.js'],
  ['of Hono, meets the cases that docs/embed.md states, and changes no other route', 'hono.js'],
  ['of Koa, meets the cases that docs/embed.md states, and changes no other route', 'koa.js'],
  ['of Nest, meets the cases that docs/embed.md states, and changes no other route', 'nest.ts'],
] as const;

describe('The HTTP API, mounted in an app', () => {
  let folder: string;
  const results = new Map<string, Promise<void>>();

  // All at the same time, because most of it is waiting for time limits.
  before(() => {
    folder = installPackages();
    cpSync(inRepository('docs/examples'), folder, { recursive: true });
    const options = '--noCheck --experimentalDecorators --module esnext --moduleResolution bundler --target es2023';
    outputOf(folder, ['node', 'node_modules/typescript/bin/tsc', ...options.split(' '), 'mounted/nest.ts']);
    for (const [, example] of EXAMPLES) results.set(example, run(example));
    void Promise.allSettled(results.values());
  });

  async function run(example: string): Promise<void> {
    const settings = { PORT: '0', ACCESS_TOKENS: TOKEN, LOG_LEVEL: 'warn', DATABASE_URL: `sqlite:${example}.db` };
    const app = new Program(folder, [process.execPath, `mounted/${example.replace('.ts', '.js')}`], settings);
    const origin = `http://127.0.0.1:${await app.port()}`;
    await expectStatedCases(`mounted/${example}`, { baseUrl: `${origin}/garden`, token: TOKEN });
    const headers = { 'Content-Type': 'application/json' };
    const notes = (body: string) => fetch(`${origin}/notes`, { method: 'POST', headers, body });
    expect(await (await notes('{"id":9007199254740993}')).text()).to.equal('{"noted":{"id":9007199254740992}}');
    expect((await notes('{"id":')).status).to.equal(400);
  }

  for (const [title, example] of EXAMPLES) it(title, () => results.get(example));
});
