import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { codeBlocks, section } from '../support/guide.js';
import { inRepository } from '../support/paths.js';
import { skipUnless } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { installed, outputOf } from './interop.js';

describe('The line of docs/http-api.md for a bigint', () => {
  const folder = temporaryFolder();
  const [line = ''] = codeBlocks(section('docs/http-api.md', 'Clients')).map(({ text }) => text);

  it('compiles in TypeScript 5.9 and 7', () => {
    writeFileSync(join(folder, 'module.ts'), line);
    const compilerOptions = { strict: true, noEmit: true, types: [], target: 'es2022', lib: ['es2022'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    for (const compiler of [installed('typescript/bin/tsc'), inRepository('node_modules/typescript/bin/tsc')])
      outputOf(folder, [process.execPath, compiler, '-p', '.']);
  });

  it('writes the digits of a bigint on Node 24', function () {
    const node = installed('node-24/bin/node');
    skipUnless(this, existsSync(node), node);
    const program = `${line}console.log(JSON.stringify({ id: 9007199254740993n }));`;
    expect(outputOf(folder, [node, '--eval', program])).to.equal('{"id":9007199254740993}\n');
  });
});
