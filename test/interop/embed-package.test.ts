import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { codeBlocks } from '../support/guide.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';
import { outputOf, run } from './interop.js';

/** The entry points of the service, which only the package plant-store has. */
const SERVICE = ['./composition', './adapters/http', './adapters/koa'];

/** The package that an entry point lacks. The others lack none. */
const LACKS = { './adapters/api': 'ajv', './adapters/jwt': 'jose' };

describe('plant-store-embed, installed as plant-store in an empty folder,', () => {
  const project = temporaryFolder();
  const read = (file: string) => readFileSync(join(project, 'node_modules/plant-store', file), 'utf8');
  const { version, exports } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8'));
  const names = Object.keys(exports).filter((name) => !SERVICE.includes(name));
  before(() => {
    const tarball = `plant-store@file:./plant-store-embed-${version}.tgz`;
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
    expect(run(project, [process.execPath, inRepository('pack-embed.js')])).to.include({ status: 0 });
    expect(run(project, ['npm', 'install', '--offline', '--no-audit', tarball])).to.include({ status: 0 });
  });

  const runProgram = (text: string) => {
    writeFileSync(join(project, 'program.js'), text);
    return outputOf(project, [process.execPath, 'program.js']);
  };

  it('is the only package, and takes at most 1 MB with types, sources and source maps', () => {
    const { peerDependencies, peerDependenciesMeta, ...manifest } = JSON.parse(read('package.json'));
    expect(manifest).to.not.have.any.keys('dependencies', 'optionalDependencies', 'scripts', 'bin');
    expect(Object.keys(peerDependenciesMeta)).to.have.members(Object.keys(peerDependencies));
    const paths = readdirSync(join(project, 'node_modules'), { recursive: true, withFileTypes: true });
    const files = paths.filter((path) => path.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const others = files.filter((file) => !/\/node_modules\/(plant-store\/|\.package-lock\.json$)/.test(file));
    expect(others).to.deep.equal([]);
    expect(files.reduce((sum, file) => sum + statSync(file).size, 0)).to.be.within(1, 1_000_000);
  });

  it('has every entry point except those of the service; its README names the packages that they need', () => {
    const manifest = JSON.parse(read('package.json'));
    expect([manifest.version, Object.keys(manifest.exports)]).to.deep.equal([version, names]);
    for (const target of Object.values<string>(manifest.exports)) read(target.replace(/\.js$/, '.d.ts'));
    const modules = names.filter((name) => name !== '.' && !name.endsWith('.json'));
    const lacking = runProgram(`
      const lacking = {};
      for (const name of ${JSON.stringify(modules)}) await import(name.replace('.', 'plant-store')).catch(({ message }) => {
        lacking[name] = message.match(/Cannot find package '(.*?)'/)?.[1] ?? message;
      });
      console.log(JSON.stringify(lacking));`);
    expect(JSON.parse(lacking)).to.deep.equal(LACKS);
    for (const [name, lacks] of Object.entries(LACKS))
      expect(read('README.md')).to.include(`| \`${name.replace('.', 'plant-store')}\` | \`${lacks}`);
  });

  it('runs the program of its README', () => {
    const [program] = codeBlocks(read('README.md')).filter(({ language }) => language === 'js');
    expect(runProgram(`${program?.text}`)).to.equal('created\n');
  });
});
