import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { codeBlocks, section } from '../support/guide.js';
import { inRepository } from '../support/paths.js';
import { bundle, installPackage, outputOf } from './interop.js';

const KOA = `
import { createKoaServer } from 'plant-store/adapters/koa';
import { MemoryPlantRepository } from 'plant-store/adapters/memory';
import { StaticTokenVerifier } from 'plant-store/adapters/static-token';
import { CreatePlant } from 'plant-store/core';

const createPlant = new CreatePlant(new MemoryPlantRepository());
const tokenVerifier = new StaticTokenVerifier(['secret-token']);
const server = createKoaServer({ createPlant, tokenVerifier });
const { port } = await server.listen(0, '127.0.0.1');
const headers = { Authorization: 'Bearer secret-token', 'Content-Type': 'application/json' };
const url = 'http://127.0.0.1:' + port + '/plants';
const response = await fetch(url, { method: 'POST', headers, body: '{"id":1,"name":"Monstera"}' });
console.log(response.status); // 200
await server.stop(1000);`;

/** Returns the options of esbuild that the guide states for an entry point. */
function optionsFor(program: string, format: string): string[] {
  const rows = section('docs/embed.md', 'Bundlers').matchAll(/^\| `([\w/]+)` \| (.+?) \|[^`]*`([^`]+)`/gm);
  const options = [...rows].map(([, entryPoint, formats, text = '']) =>
    program.includes(`plant-store/${entryPoint}'`) && (formats === 'both' || formats === format) ? text : '',
  );
  return [...options.join(' ').matchAll(/"([^"]+)"|(\S+)/g)].map(([, quoted, plain]) => `${quoted ?? plain}`);
}

describe('The embedding guide', () => {
  const blocks = codeBlocks(readFileSync(inRepository('docs/embed.md'), 'utf8'));
  const programs = blocks.flatMap(({ language, text }) => (language === 'js' ? text : []));
  let folder: string;
  before(() => {
    folder = installPackage();
  });

  /** Runs a program in an empty folder. Its comments state its output. */
  function expectStatedOutput(program: string, prepare: (folder: string) => string): void {
    const stated = [...program.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, output]) => `${output}\n`);
    const empty = mkdtempSync(join(folder, 'program-'));
    expect(stated).to.have.lengthOf.at.least(1);
    expect(outputOf(empty, [process.execPath, prepare(empty)])).to.equal(stated.join(''));
  }

  it('contains only JavaScript and one command, which installs plant-store-embed as plant-store', () => {
    const { version } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8'));
    const commands = blocks.flatMap(({ language, text }) => (language === 'js' ? [] : text));
    expect(commands).to.deep.equal([`npm install plant-store@file:../plant-store/plant-store-embed-${version}.tgz\n`]);
  });

  for (const [index, program] of programs.entries()) {
    it(`states the output of program ${index + 1}`, () => {
      writeFileSync(join(folder, 'program.mjs'), program);
      expectStatedOutput(program, () => join(folder, 'program.mjs'));
    });
  }

  // The guide has no options for the container.
  for (const program of [...programs.filter((text) => !text.includes('plant-store/composition')), KOA]) {
    const what = program === KOA ? 'a Koa app' : `program ${programs.indexOf(program) + 1}`;
    for (const [format, name] of Object.entries({ esm: 'ES module', cjs: 'CommonJS' })) {
      it(`states the options of esbuild that bundle ${what} as ${name}`, () => {
        // CommonJS has no await outside of functions.
        const wrapped = program.trimStart().replace(/^((?:import [^\n]*\n)+)(.*)/s, '$1(async () => {$2})();');
        const options = [`--format=${format}`, ...optionsFor(program, name)];
        expectStatedOutput(program, (empty) => bundle(empty, wrapped, ...options));
      });
    }
  }
});
