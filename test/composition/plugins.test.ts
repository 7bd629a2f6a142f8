import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { readConfig } from '../../composition/config.js';
import { createContainer, services } from '../../composition/container.js';
import { InvalidConfig } from '../../composition/invalid-config.js';
import { loadPlugins } from '../../composition/plugins.js';
import { StorageUnavailable } from '../../core/index.js';
import { catchError } from '../support/catch-error.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';

/** A plugin whose default export has the given body. */
const plugin = (body: string) => `
  import { MemoryPlantRepository } from 'plant-store/adapters/memory';
  import { services } from 'plant-store/composition';
  import { StorageUnavailable } from 'plant-store/core';
  const open = () => new MemoryPlantRepository();
  export default async (container) => { ${body} };`;
const bind = (open: string, more = '') =>
  plugin(`container.bind(services.OpenStorage).toConstantValue(${open}).whenNamed('garden'); ${more}`);
const rebind = (binding: string, service = 'Storage') => plugin(`container.rebind(services.${service})${binding};`);

const NOTHING = plugin('');
/** Wraps the storage of the plugins before it. */
const AUDIT = plugin(`
  const inner = await container.getAsync(services.Storage);
  container.rebind(services.Storage).toConstantValue(Object.assign(inner, { audited: true }));`);
const GARDEN = { DATABASE_URL: 'garden://user:canary@localhost' };

const LACKS = 'the adapter lacks these methods:';
const NO_SOIL = "async () => { throw new Error('no soil'); }";
/** Plugins that fail, and the reasons that the service reports. */
const FAILURES: readonly (readonly [what: string, bad: string | undefined, reason: string])[] = [
  ['is missing', undefined, "Cannot find module '.*/bad\\.js'"],
  ['throws while it is loaded', "throw new Error('first\\nsecond');", 'first'],
  ['has no default export', 'export const plugin = () => {};', 'its default export is not a function'],
  ['throws a string', plugin("throw 'no water';"), 'no water'],
  ['throws an object', plugin('throw Object.create(null);'), 'it failed without a message'],
  ['does not return in time', plugin('await new Promise(() => {});'), 'not ready after 1 s'],
  ['leaves the storage unbound', rebind(''), 'services\\.Storage: No bindings? found.*'],
  ['binds no storage', rebind('.toConstantValue({ add() {} })'), `services\\.Storage: ${LACKS} readAll, ready, close`],
  ['fails to create its storage', rebind(`.toDynamicValue(${NO_SOIL})`), 'services\\.Storage: no soil'],
  ['misspells a service', rebind('.toConstantValue({})', 'TokenVerifer'), 'it calls rebind with undefined; .*'],
  ['binds no verifier', rebind('.toConstantValue({})', 'TokenVerifier'), `services\\.TokenVerifier: ${LACKS} verify`],
  ['binds no server', rebind('.toConstantValue({})', 'HttpServer'), `services\\.HttpServer: ${LACKS} listen, stop`],
  [
    'binds no verifier in a module',
    plugin(`const { plantStoreModule: { constructor: Module } } = await import('plant-store/composition');
      await container.loadAsync(new Module(async ({ rebind }) => (await rebind(services.TokenVerifier)).toConstantValue({})));`),
    `services\\.TokenVerifier: ${LACKS} verify`,
  ],
  [
    'fails when it decorates the storage',
    bind('open', "container.onActivation(services.Storage, () => { throw new Error('no soil'); });"),
    'services\\.Storage: no soil',
  ],
  ['fails to open the storage of its scheme', bind(NO_SOIL), 'services\\.Storage: no soil'],
  ['does not open its storage', bind('() => new Promise(() => {})'), 'services\\.Storage: not ready after 1 s'],
];

describe('Plugins', () => {
  const root = temporaryFolder();
  let folder: string;
  let count = 0;
  beforeEach(() => {
    folder = join(root, `${++count}`);
    mkdirSync(join(folder, 'node_modules'), { recursive: true });
    symlinkSync(inRepository(''), join(folder, 'node_modules/plant-store'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  });

  /** Loads plugins, by name and in order, and creates the storage and the server. */
  async function start(
    plugins: Readonly<Record<string, string | undefined>>,
    environment: Readonly<Record<string, string>> = {},
    timeoutMs?: number,
  ) {
    const pathOf = (name: string) => join(folder, `${name}.js`);
    for (const [name, text] of Object.entries(plugins)) if (text !== undefined) writeFileSync(pathOf(name), text);
    const PLUGINS = Object.keys(plugins).map(pathOf).join();
    const config = readConfig({ LOG_LEVEL: 'silent', MANAGEMENT_PORT: 'off', PLUGINS, ...environment });
    const container = createContainer(config);
    await (await loadPlugins(container, config, timeoutMs))();
    return container.getAsync(services.Storage);
  }
  const problemOf = async (...args: Parameters<typeof start>) => {
    const error = await catchError(start(...args));
    expect(error).to.be.instanceOf(InvalidConfig);
    return `${Object(error).message}`.replace(`${folder}/`, '');
  };

  for (const [what, bad, reason] of FAILURES) {
    it(`are named, with the service, if one of several ${what}`, async () => {
      const environment = bad?.includes('OpenStorage') ? GARDEN : {};
      // Enough for the other plugins on a busy machine.
      const timeoutMs = reason.includes('not ready') ? 1000 : undefined;
      const problem = await problemOf({ first: NOTHING, bad, last: NOTHING }, environment, timeoutMs);
      expect(problem).to.match(RegExp(`^PLUGINS="bad\\.js": ${reason}$`));
    });
  }

  it('are named if the error appears while another plugin loads', async () => {
    const message = 'PLUGINS="bad.js": services.Storage: no soil';
    expect(await problemOf({ bad: bind(NO_SOIL), last: AUDIT }, GARDEN)).to.equal(message);
  });

  it('are named if they break the service of an earlier one', async () => {
    const problem = await problemOf({ first: rebind('.toDynamicValue(open)'), bad: rebind('.toConstantValue(1)') });
    expect(problem).to.match(/^PLUGINS="bad\.js": services\.Storage: /);
  });

  it('whose storage is unavailable throw its StorageUnavailable, because a retry may help', async () => {
    const message = 'cannot open the garden: it is winter';
    const bad = bind(`async () => { throw new StorageUnavailable('${message}'); }`);
    for (const last of [NOTHING, AUDIT]) {
      const error = await catchError(start({ bad, last }, GARDEN));
      expect(error).to.be.instanceOf(StorageUnavailable).and.have.property('message', message);
    }
  });

  it('add storages: the scheme of DATABASE_URL selects one', async () => {
    const garden = bind('({ log, ...options }) => Object.assign(open(), { options, hasLog: "warn" in log })');
    const storage = await start({ garden }, { ...GARDEN, STORAGE_TIMEOUT: '7s' });
    const options = { url: GARDEN.DATABASE_URL, timeoutMs: 7000, readOnly: false };
    expect(storage).to.deep.include({ options, hasLog: true });
    expect(await start({ garden }, { DATABASE_URL: 'memory:' })).not.to.have.property('options');
  });

  it('do not make an unknown scheme valid; its error reveals no password', async () => {
    const allowed = 'sqlite:PATH, sqlite:PATH?mode=rw, postgres://…, mysql://…, memory: or a URL for a plugin';
    for (const plugins of [{}, { first: NOTHING }])
      expect(await problemOf(plugins, GARDEN)).to.equal(`DATABASE_URL="garden:***" must be ${allowed}`);
  });

  for (const service of ['Storage', 'PlantRepository']) {
    it(`that replace services.${service} conflict with DATABASE_URL`, async () => {
      const plugins = { first: NOTHING, bad: rebind('.toDynamicValue(open)', service) };
      const reason = 'but DATABASE_URL="sqlite:./plants.db" selects the storage; remove one of the two';
      const problem = `PLUGINS="bad.js": it replaces services.${service}, ${reason}`;
      expect(await problemOf(plugins, { DATABASE_URL: 'sqlite:./plants.db' })).to.equal(problem);
    });
  }

  it('run in order, and may replace the storage if DATABASE_URL is not set', async () => {
    expect(await start({ first: rebind('.toDynamicValue(open)'), last: AUDIT })).to.have.property('audited');
  });
});
