import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { createContainer, readConfig, services } from '../../composition/index.js';
import { catchError } from '../support/catch-error.js';
import { inRepository } from '../support/paths.js';
import { CANARY } from '../support/secret-leaks.js';
import { temporaryFolder } from '../support/temporary.js';

const plugin = (body: string) => `
  import { MemoryPlantRepository } from '@plant-store/adapters/memory';
  import { services } from 'plant-store';
  export default async (container) => { ${body} };`;
/** A plugin that shows that it was called. */
const CALLED = plugin("container.bind('called').toConstantValue(true);");

describe('Plugins', () => {
  const folder = temporaryFolder();
  const workingFolder = process.cwd();
  before(() => {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(inRepository(''), join(folder, 'node_modules/plant-store'));
    symlinkSync(inRepository('node_modules/@plant-store'), join(folder, 'node_modules/@plant-store'));
    process.chdir(folder);
  });
  after(() => process.chdir(workingFolder));

  let count = 0;
  /** Writes a module, and returns its path. */
  const write = (text: string, name = `${++count}.mjs`) => {
    writeFileSync(name, text);
    return `./${name}`;
  };
  /** Loads plugins in order. */
  const load = (plugins: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
    createContainer(readConfig({ PLUGINS: plugins.join(), ...environment }));

  it('are named in one line if one of several fails, unless it is a URL, which may contain a password', async () => {
    const url = `postgres://u:${CANARY}@db`;
    for (const [path, reason] of [
      ['./none.mjs', `Cannot find module '.*' imported from ${folder}/`],
      ['tools/none.js', `Cannot find package 'tools' imported from ${folder}/; the path of a file starts with ./`],
      [url, "Only URLs with a scheme in: .*'postgres:'"],
      [write("throw new Error('first\\nsecond');"), 'first'],
      [write('export const plugin = () => {};'), 'its default export is not a function'],
      [write(plugin("throw { message: Symbol('x'), code: 'DRY' };")), 'DRY'],
      [write(plugin('services.CreatPlant;')), 'there is no service CreatPlant'],
    ] as const)
      expect(await catchError(load([write(CALLED), path, write(CALLED)]))).to.match(
        RegExp(`^InvalidConfig: PLUGINS: ${path === url ? 'a URL' : path}: ${reason}$`),
      );
  });

  it('may be packages of the working directory, URLs, or CommonJS that TypeScript has compiled, at a path with #', async () => {
    mkdirSync('node_modules/garden');
    write(CALLED, 'node_modules/garden/index.mjs');
    write('{"exports":{"import":"./index.mjs"}}', 'node_modules/garden/package.json');
    const bind = "exports.default = (container) => void container.bind('called').toConstantValue(true);";
    const path = write(`exports.__esModule = true; ${bind}`, 'compiled #1.cjs');
    for (const name of ['garden', path, pathToFileURL(path).href])
      expect((await load([name])).isBound('called'), name).to.equal(true);
  });

  it('add storages, which the scheme of DATABASE_URL selects, or replace or wrap those of the service, in order', async () => {
    const open = '(options) => Object.assign(new MemoryPlantRepository(), { options })';
    const add = (scheme: string) =>
      write(plugin(`container.bind(services.OpenStorage).toConstantValue(${open}).whenNamed('${scheme}');`));
    const wrap = (name: string) =>
      write(
        plugin(`container.onActivation(services.Storage, (_, inner) => Object.assign(inner, { name: '${name}' }));`),
      );
    for (const url of ['garden://localhost', 'memory:']) {
      const environment = { DATABASE_URL: url, STORAGE_TIMEOUT: '7s' };
      const container = await load([add('garden'), add('memory'), wrap('first'), wrap('last')], environment);
      const options = { url, timeoutMs: 7000, readOnly: false };
      expect(await container.getAsync(services.Storage)).to.deep.include({ options, name: 'last' });
    }
  });
});
