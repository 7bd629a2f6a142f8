import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Container, GetOptions, ServiceIdentifier } from 'inversify';
import { isPlantStoreError } from '../core/index.js';
import { type Config, describeSetting, settings } from './config.js';
import { isReplaced, services } from './container.js';
import { InvalidConfig } from './invalid-config.js';

/** The default export of a module that `PLUGINS` names. Binds storages, or rebinds the `services` that it replaces. */
export type Plugin = (container: Container) => void | Promise<void>;

/** Maximum time to load a plugin, and to create a service that it binds. */
const MAX_PLUGIN_MS = 60_000;
/** The methods of a container that change a binding. */
const BINDING_METHODS: readonly unknown[] = ['bind', 'rebind', 'rebindAsync', 'unbind', 'unbindAsync', 'onActivation'];
/** The methods that an adapter must have. One from a plugin might not be type-checked. */
const METHODS = new Map<ServiceIdentifier, readonly string[]>([
  [services.Storage, ['add', 'readAll', 'ready', 'close']],
  [services.PlantRepository, ['add', 'readAll']],
  [services.TokenVerifier, ['verify']],
  [services.CreatePlant, ['execute', 'executeAll']],
  [services.ReadPlants, ['execute']],
  [services.HttpServer, ['listen', 'stop']],
]);

/**
 * Runs the configured plugins on a container, in order. Returns a function that creates the services that they bind.
 * @throws {InvalidConfig} A plugin fails, or one of its services; one line names it, the service and the error. Also
 * thrown if no storage, or more than one, is selected.
 * @throws {StorageUnavailable} The storage of a plugin is unavailable.
 */
export async function loadPlugins(
  container: Container,
  config: Config,
  timeoutMs = MAX_PLUGIN_MS,
): Promise<() => Promise<void>> {
  const { plugins = [], database, isDatabaseSet } = config;
  /** The plugin that last changed the binding of each service. */
  const owners = new Map<ServiceIdentifier, string>();
  const hasStorage = () => container.isBound(services.OpenStorage, { name: database.scheme });
  const findReplaced = () =>
    Object.values<ServiceIdentifier>(services).filter((service) => isReplaced(container, service));
  const getAsync = async (service: ServiceIdentifier, options?: GetOptions): Promise<unknown> => {
    const plugin = owners.get(service);
    if (plugin === undefined) return container.getAsync(service, options);
    try {
      const adapter: unknown = await within(timeoutMs, container.getAsync(service, options));
      const missing = METHODS.get(service)?.filter((method) => typeof Object(adapter)[method] !== 'function') ?? [];
      if (missing.length > 0) throw new TypeError(`the adapter lacks these methods: ${missing.join(', ')}`);
      return adapter;
    } catch (error) {
      return fail(plugin, error, `${nameOf(service)}: `);
    }
  };
  for (const plugin of plugins) {
    const hadStorage = hasStorage();
    const replacedBefore = findReplaced();
    /** The container, except that it notes whose bindings the plugin changes, and creates services with `getAsync`. */
    const view = new Proxy(container, {
      get: (target, name) => {
        const member: unknown = name === 'getAsync' ? getAsync : Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: readonly [ServiceIdentifier, ...unknown[]]) => {
          if (BINDING_METHODS.includes(name) && args[0] === undefined)
            throw new TypeError(`it calls ${String(name)} with undefined; check the name of the service`);
          if (BINDING_METHODS.includes(name) && args[0] !== services.OpenStorage) owners.set(args[0], plugin);
          return Reflect.apply(member, target, args);
        };
      },
    });
    await within(timeoutMs, install(plugin, view)).catch((error: unknown) => fail(plugin, error));
    if (!hadStorage && hasStorage()) owners.set(services.Storage, plugin);
    // By a module that the plugin loaded.
    for (const service of findReplaced()) if (!replacedBefore.includes(service)) owners.set(service, plugin);
  }

  const url = describeSetting(settings.database, database.url);
  const replaced = [services.Storage, services.PlantRepository].find((service) => isReplaced(container, service));
  if (replaced === undefined && !hasStorage()) throw new InvalidConfig(`${url} must be ${settings.database.allowed}`);
  if (replaced !== undefined && isDatabaseSet) {
    const problem = `it replaces ${nameOf(replaced)}, but ${url} selects the storage; remove one of the two`;
    fail(owners.get(replaced) ?? plugins.join(), new Error(problem));
  }

  // In the order of `services`, each after those that it depends on.
  const bound = Object.values<ServiceIdentifier>(services).filter((service) => owners.has(service));
  return async () => {
    const created: ServiceIdentifier[] = [];
    try {
      for (const service of bound) {
        await getAsync(service);
        created.push(service);
      }
    } catch (error) {
      if (created.includes(services.Storage)) await (await container.getAsync(services.Storage)).close();
      throw error;
    }
  };
}

/** Loads and calls a plugin. */
async function install(plugin: string, container: Container): Promise<void> {
  const url = pathToFileURL(createRequire(join(process.cwd(), '/')).resolve(plugin)).href;
  const { default: run }: { readonly default?: unknown } = await import(url);
  if (typeof run !== 'function') throw new TypeError('its default export is not a function');
  await run(container);
}

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not ready after ${timeoutMs / 1000} s`)), timeoutMs);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

/** Throws the error of a plugin as one line, unless another plugin is at fault. */
function fail(plugin: string, error: unknown, service = ''): never {
  // If the storage is unavailable, a retry helps, and a different setting does not.
  if (isPlantStoreError(error, 'STORAGE_UNAVAILABLE') || error instanceof InvalidConfig) throw error;
  const message = (error instanceof Error ? error.message : typeof error === 'string' ? error : '').trim();
  const [reason = ''] = message.split('\n', 1);
  throw new InvalidConfig(`PLUGINS=${JSON.stringify(plugin)}: ${service}${reason || 'it failed without a message'}`);
}

/** Returns the name of a service for messages, such as `services.Storage`. */
function nameOf(service: ServiceIdentifier): string {
  const [name] = Object.entries(services).find(([, identifier]) => identifier === service) ?? [];
  return name === undefined ? String(service) : `services.${name}`;
}
