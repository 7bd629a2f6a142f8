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
const bind = (open: string) =>
  plugin(`container.bind(services.OpenStorage).toConstantValue(${open}).whenNamed('garden');`);
const rebind = (binding: string, service = 'Storage') => plugin(`container.rebind(services.${service})${binding};`);

const GARDEN = bind('open');
const NOTHING = plugin('');
/** Wraps the storage of the plugins before it. */
const AUDIT = plugin(`
  const inner = await container.getAsync(services.Storage);
  container.rebind(services.Storage).toConstantValue(Object.assign(inner, { audited: true }));`);
const GARDEN_URL = { DATABASE_URL: 'garden://user:canary@localhost' };

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

  const pathOf = (name: string) => join(folder, `${name}.js`);

  /** Loads plugins, by name and in order, and creates the storage and the server. */
  async function start(
    plugins: Readonly<Record<string, string | undefined>>,
    environment: Readonly<Record<string, string>> = {},
    timeoutMs?: number,
  ) {
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

  describe('that fail are named, with the service, if one', () => {
    const LACKS = 'the adapter lacks these methods:';
    const noSoil = "async () => { throw new Error('no soil'); }";
    const failures: readonly (readonly [what: string, bad: string | undefined, reason: string])[] = [
      ['is missing', undefined, "Cannot find module '.*/bad\\.js'"],
      ['imports a missing package', "import 'none';", "Cannot find package 'none' imported from .*"],
      ['is not JavaScript', 'export default (', '.+'],
      ['throws while it is loaded', "throw new Error('first\\nsecond');", 'first'],
      ['has no default export', 'export const plugin = () => {};', 'its default export is not a function'],
      ['throws', plugin("throw new Error('no water');"), 'no water'],
      ['throws a string', plugin("throw 'no water';"), 'no water'],
      ['throws an object', plugin('throw Object.create(null);'), 'it failed without a message'],
      ['does not return in time', plugin('await new Promise(() => {});'), 'not ready after 1 s'],
      ['leaves the storage unbound', rebind(''), 'services\\.Storage: No bindings? found.*'],
      [
        'binds an object without the methods of a repository',
        rebind('.toConstantValue({ async add() {}, async ready() {} })'),
        `services\\.Storage: ${LACKS} readAll, close`,
      ],
      ['fails to create its storage', rebind(`.toDynamicValue(${noSoil})`), 'services\\.Storage: no soil'],
      [
        'binds a verifier without its method',
        rebind('.toConstantValue({})', 'TokenVerifier'),
        `services\\.TokenVerifier: ${LACKS} verify`,
      ],
      ['fails to open the storage of its scheme', bind(noSoil), 'services\\.Storage: no soil'],
      ['opens something else for its scheme', bind('() => ({})'), `services\\.Storage: ${LACKS} add, .*`],
      ['does not open its storage', bind('() => new Promise(() => {})'), 'services\\.Storage: not ready after 1 s'],
    ];
    for (const [what, bad, reason] of failures) {
      it(`if one of several ${what}`, async () => {
        const hasScheme = bad?.includes('OpenStorage') === true;
        // Enough for the other plugins on a busy machine.
        const timeoutMs = reason.includes('not ready') ? 1000 : undefined;
        for (const last of hasScheme && timeoutMs === undefined ? [NOTHING, AUDIT] : [NOTHING]) {
          const plugins = { first: hasScheme ? NOTHING : GARDEN, bad, last };
          const problem = await problemOf(plugins, hasScheme ? GARDEN_URL : {}, timeoutMs);
          expect(problem).to.match(RegExp(`^PLUGINS="bad\\.js": ${reason}$`));
        }
      });
    }

    it('if a later one breaks the service of an earlier one', async () => {
      const problem = await problemOf({ first: rebind('.toDynamicValue(open)'), bad: rebind('.toConstantValue(1)') });
      expect(problem).to.match(/^PLUGINS="bad\.js": services\.Storage: /);
    });
  });

  it('whose storage is unavailable throw its StorageUnavailable, because a retry may help', async () => {
    const text = bind("async () => { throw new StorageUnavailable('cannot open the garden: it is winter'); }");
    for (const last of [NOTHING, AUDIT]) {
      const error = await catchError(start({ bad: text, last }, GARDEN_URL));
      expect(error)
        .to.be.instanceOf(StorageUnavailable)
        .and.have.property('message', 'cannot open the garden: it is winter');
    }
  });

  it('add storages: the scheme of DATABASE_URL selects one', async () => {
    const options = bind(
      '({ log, ...options }) => Object.assign(open(), { options: { ...options, hasLog: "warn" in log } })',
    );
    const environment = { ...GARDEN_URL, STORAGE_TIMEOUT: '7s' };
    const storage = await start({ garden: options }, environment);
    const { DATABASE_URL: url } = GARDEN_URL;
    expect(storage).to.deep.include({ options: { url, timeoutMs: 7000, readOnly: false, hasLog: true } });
    expect(await start({ garden: options }, { DATABASE_URL: 'memory:' })).not.to.have.property('options');
  });

  it('leave an unknown scheme an error, which shows no password', async () => {
    for (const plugins of [{}, { first: NOTHING }]) {
      expect(await problemOf(plugins, GARDEN_URL)).to.equal(
        'DATABASE_URL="garden:***" must be sqlite:PATH, sqlite:PATH?mode=rw, postgres://…, mysql://…, memory: or a URL for a plugin',
      );
    }
  });

  for (const service of ['Storage', 'PlantRepository']) {
    it(`that replace services.${service} conflict with DATABASE_URL`, async () => {
      const plugins = { first: NOTHING, bad: rebind('.toDynamicValue(open)', service) };
      expect(await problemOf(plugins, { DATABASE_URL: 'sqlite:./plants.db' })).to.equal(
        `PLUGINS="bad.js": it replaces services.${service}, but DATABASE_URL="sqlite:./plants.db" selects the storage; remove one of the two`,
      );
    });
  }

  it('wrap the storage of DATABASE_URL with onActivation', async () => {
    const text = plugin(
      'container.onActivation(services.Storage, (_, inner) => Object.assign(inner, { wrapped: true }));',
    );
    expect(await start({ text }, { DATABASE_URL: 'memory:' })).to.have.property('wrapped');
  });

  it('run in order, and may replace the storage if DATABASE_URL is not set', async () => {
    expect(await start({ first: rebind('.toDynamicValue(open)'), last: AUDIT })).to.have.property('audited');
  });
});
