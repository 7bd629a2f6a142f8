import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { skipUnless } from '../support/skip-unless.js';
import { installed, installPackage, outputOf } from './interop.js';

const PROGRAM = `
import { openApiDescription, PlantCodec } from 'plant-store/adapters/api';
import { MemoryPlantRepository } from 'plant-store/adapters/memory';
import { plantRepositoryContract } from 'plant-store/contract';
import { CreatePlant } from 'plant-store/core';

const open = async () => new MemoryPlantRepository();
for (const { run } of plantRepositoryContract({ open }).cases) await run();
const json = new TextEncoder().encode('{"id":9007199254740993,"name":"Monstera"}');
const { newPlant } = new PlantCodec(openApiDescription).decode(json);
const { kind, plant } = await new CreatePlant(await open()).execute(newPlant);
console.log(kind, String(plant.id));`;

const RUNTIMES: Readonly<Record<string, readonly [string, ...string[]]>> = {
  'Node 24': [installed('node-24/bin/node')],
  Deno: [installed('@deno/linux-x64-glibc/deno'), 'run', '--node-modules-dir=manual', '--no-remote', '--allow-all'],
  Bun: [installed('@oven/bun-linux-x64/bin/bun'), 'run'],
};

describe('The core, the memory adapter, its contract and adapters/api', () => {
  let folder: string;
  before(() => {
    folder = installPackage();
    writeFileSync(join(folder, 'package.json'), '{ "type": "module", "dependencies": { "plant-store": "*" } }');
    writeFileSync(join(folder, 'program.js'), PROGRAM);
  });

  for (const [name, command] of Object.entries(RUNTIMES)) {
    it(`run on ${name}`, function () {
      skipUnless(this, existsSync(command[0]), command[0]);
      expect(outputOf(folder, [...command, 'program.js'])).to.equal('created 9007199254740993\n');
    });
  }
});
