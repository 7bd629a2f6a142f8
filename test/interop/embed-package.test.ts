import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { codeBlocks } from '../support/guide.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';
import { runUntilExit } from './interop.js';

/** The entry points of the service, which only the package plant-store has. */
const SERVICE = ['./composition', './adapters/koa'];

/** Maximum size on disk, with types, sources and source maps. */
const MAX_BYTES = 1_000_000;

const readManifest = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

describe('plant-store-embed, installed as plant-store in an empty folder,', function () {
  this.timeout(60_000);
  const project = temporaryFolder();
  const folder = join(project, 'node_modules/plant-store');
  const complete = readManifest(inRepository('package.json'));

  before(() => {
    const packed = runUntilExit(project, [process.execPath, inRepository('docs/pack-embed.js')]);
    expect(packed.status, packed.stderr).to.equal(0);
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
    const tarball = `plant-store@file:./plant-store-embed-${complete.version}.tgz`;
    const installed = runUntilExit(project, ['npm', 'install', '--offline', '--no-audit', tarball]);
    expect(installed.status, installed.stderr).to.equal(0);
  });

  const run = (program: string) => {
    writeFileSync(join(project, 'program.js'), program);
    return runUntilExit(project, [process.execPath, 'program.js']);
  };

  it('is the only package', () => {
    const packages = readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(packages).to.deep.equal(['plant-store']);
    const manifest = readManifest(join(folder, 'package.json'));
    expect(manifest).to.not.have.any.keys('dependencies', 'optionalDependencies', 'scripts', 'bin');
    expect(Object.keys(manifest.peerDependenciesMeta)).to.have.members(Object.keys(manifest.peerDependencies));
  });

  it(`takes at most ${MAX_BYTES / 1000} kB`, () => {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const sizes = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name)).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.be.within(1, MAX_BYTES);
  });

  it('has every entry point of plant-store except those of the service', () => {
    const { exports, version } = readManifest(join(folder, 'package.json'));
    const expected = Object.keys(complete.exports).filter((path) => !SERVICE.includes(path));
    expect([version, Object.keys(exports)]).to.deep.equal([complete.version, expected]);
    const targets = Object.values<string>(exports).flatMap((target) => [target, target.replace(/\.js$/, '.d.ts')]);
    expect(targets.filter((target) => !existsSync(join(folder, target)))).to.deep.equal([]);
  });

  it('runs the program of its README', () => {
    const readme = readFileSync(join(folder, 'README.md'), 'utf8');
    const program = codeBlocks(readme).find(({ language }) => language === 'js')?.text ?? '';
    const { stdout, stderr } = run(program);
    expect([stdout, stderr]).to.deep.equal(['created\n', '']);
  });

  it('runs the contracts on the memory repository and on the static verifier', () => {
    const { stdout, stderr } = run(`
      import { BatchingPlantRepository } from 'plant-store/adapters/batching';
      import { MemoryPlantRepository } from 'plant-store/adapters/memory';
      import { StaticTokenVerifier } from 'plant-store/adapters/static-token';
      import { plantRepositoryContract, tokenVerifierContract } from 'plant-store/contract';

      const open = async () => new BatchingPlantRepository(new MemoryPlantRepository());
      for (const { run } of plantRepositoryContract) await run({ open });
      const validToken = 'jk8QxwPzT4mB2nLr';
      for (const { run } of tokenVerifierContract) await run({ create: () => new StaticTokenVerifier([validToken]), validToken });
      console.log(plantRepositoryContract.length, tokenVerifierContract.length);`);
    expect(stderr).to.equal('');
    expect(stdout).to.match(/^\d\d+ \d+\n$/);
  });

  it('names in its README the packages that some entry points need', () => {
    const readme = readFileSync(join(folder, 'README.md'), 'utf8');
    for (const [entryPoint, name] of [
      ['adapters/api', 'ajv'],
      ['adapters/jwt', 'jose'],
      ['adapters/knex', 'knex'],
    ]) {
      expect(run(`import 'plant-store/${entryPoint}';`).stderr).to.include(`Cannot find package '${name}'`);
      expect(readme).to.match(RegExp(`^\\| \`plant-store/${entryPoint}\` \\| \`${name}\\b`, 'm'));
    }
  });

  it('names its entry points if a program imports no entry point', () => {
    const { exports } = readManifest(join(folder, 'package.json'));
    const names = Object.keys(exports).map((path) => path.replace('.', 'plant-store'));
    const { stderr } = run("import 'plant-store';");
    expect(stderr).to.include(`has no main entry point; import one of ${names.slice(1).join(', ')}\n`);
  });
});
