import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { createContainer, InvalidConfig, readConfig, services } from '../../composition/index.js';
import { catchError } from '../support/catch-error.js';
import { inRepository } from '../support/paths.js';
import { CANARY } from '../support/secret-leaks.js';
import { temporaryFolder } from '../support/temporary.js';

/** Returns a module with a plugin. */
const plugin = (body: string) => `
  import { MemoryPlantRepository } from '@plant-store/adapters/memory';
  import { services } from 'plant-store';
  export default async (container) => { ${body} };`;
const NOTHING = plugin('');

describe('Plugins', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(inRepository(''), join(folder, 'node_modules/plant-store'));
  symlinkSync(inRepository('node_modules/@plant-store'), join(folder, 'node_modules/@plant-store'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');

  let count = 0;
  /** Writes modules and loads them in order. */
  const load = (modules: readonly (string | undefined)[], environment: Readonly<Record<string, string>> = {}) => {
    const paths = modules.map((text) => {
      const path = join(folder, `${++count}.js`);
      if (text !== undefined) writeFileSync(path, text);
      return path;
    });
    return createContainer(readConfig({ PLUGINS: paths.join(), ...environment }));
  };

  it('are named in one line if one of several fails', async () => {
    for (const [text, reason] of [
      [undefined, `Cannot find module '.*' imported from ${process.cwd()}/`],
      ["throw new Error('first\\nsecond');", 'first'],
      ['export const plugin = () => {};', 'its default export is not a function'],
      [plugin("throw 'no water';"), "'no water'"],
      [plugin("throw { message: Symbol('x'), code: 'DRY' };"), 'DRY'],
      [plugin('throw Object.create(null);'), '\\[Object: null prototype\\] {}'],
      [plugin('services.CreatPlant;'), 'there is no service CreatPlant'],
    ] as const) {
      const error = await catchError(load([NOTHING, text, NOTHING]));
      expect(error).to.be.instanceOf(InvalidConfig);
      expect(`${error}`).to.match(RegExp(`^InvalidConfig: PLUGINS: ${folder}/${count - 1}\\.js: ${reason}$`));
    }
  });

  it('are named, too, if one does not settle within ten seconds', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const called = once(process, 'called');
    const error = catchError(load([plugin("process.emit('called'); await new Promise(() => {});")]));
    await called;
    mock.timers.tick(10_000);
    mock.timers.reset();
    expect(`${await error}`).to.match(/^InvalidConfig: PLUGINS: .*\.js: no result within 10 seconds$/);
  });

  it('are packages of the working directory unless they start with ./', async () => {
    const path = join(folder, 'node_modules/plant-store-garden');
    mkdirSync(path);
    writeFileSync(join(path, 'index.mjs'), plugin("process.emit('installed');"));
    writeFileSync(join(path, 'package.json'), '{"exports":{"import":"./index.mjs"}}');
    const [installed, cwd] = [once(process, 'installed'), process.cwd()];
    process.chdir(folder);
    try {
      await createContainer(readConfig({ PLUGINS: 'plant-store-garden' }));
      await installed;
      const error = await catchError(createContainer(readConfig({ PLUGINS: 'plugins/garden.js' })));
      const problem = `PLUGINS: plugins/garden.js: Cannot find package 'plugins' imported from ${folder}/; the path of a file starts with ./`;
      expect(error).to.have.property('message', problem);
      mkdirSync(join(folder, 'node_modules/garden-shed'));
      writeFileSync(join(folder, 'node_modules/garden-shed/package.json'), '{"type":"module","main":"index.js"}');
      writeFileSync(join(folder, 'node_modules/garden-shed/index.js'), "export { default } from 'garden';");
      const lacking = await catchError(createContainer(readConfig({ PLUGINS: 'garden-shed' })));
      expect(`${lacking}`).to.match(
        /: PLUGINS: garden-shed: Cannot find package 'garden' imported from .*\/index\.js$/,
      );
    } finally {
      process.chdir(cwd);
    }
  });

  it('may be URLs, which errors do not print', async () => {
    const url = pathToFileURL(join(folder, 'of-a-url.js')).href;
    writeFileSync(new URL(url), NOTHING);
    const error = await catchError(createContainer(readConfig({ PLUGINS: `${url},postgres://u:${CANARY}@db` })));
    expect(`${error}`).to.match(/^InvalidConfig: PLUGINS: a URL: Only URLs with a scheme in: .*'postgres:'$/);
  });

  it('may be CommonJS that TypeScript has compiled, at a path with #', async () => {
    const path = join(folder, 'compiled #1.cjs');
    const compiled = "exports.__esModule = true; exports.default = () => { process.emit('installed'); };";
    writeFileSync(path, compiled);
    const installed = once(process, 'installed');
    await createContainer(readConfig({ PLUGINS: path }));
    await installed;
  });

  it('add storages, which the scheme of DATABASE_URL selects, and replace those of the service', async () => {
    const garden = plugin(`
      const open = (options) => Object.assign(new MemoryPlantRepository(), { options });
      for (const scheme of ['garden', 'memory'])
        container.bind(services.OpenStorage).toConstantValue(open).whenNamed(scheme);`);
    for (const url of ['garden://localhost', 'memory:']) {
      const container = await load([garden], { DATABASE_URL: url, STORAGE_TIMEOUT: '7s' });
      const options = { url, timeoutMs: 7000, readOnly: false };
      expect(await container.getAsync(services.Storage)).to.deep.include({ options });
    }
  });

  it('run in order, and may replace or wrap any service', async () => {
    const replace = plugin('container.rebind(services.Storage).toConstantValue(new MemoryPlantRepository());');
    const wrap = plugin(
      'container.onActivation(services.Storage, (_, inner) => Object.assign(inner, { audited: true }));',
    );
    const container = await load([replace, wrap]);
    expect(await container.getAsync(services.Storage)).to.include({ audited: true });
  });
});
