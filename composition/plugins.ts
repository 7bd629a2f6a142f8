import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Container, ServiceIdentifier } from 'inversify';
import { StorageUnavailable } from '../core/index.js';
import { InvalidConfig } from './config.js';

/** The default export of a module that `PLUGINS` names. Rebinds the `services` that it replaces. */
export type Plugin = (container: Container) => void | Promise<void>;

/** Gets a service of the container, which creates it at the first call. */
export type GetService = <T>(service: ServiceIdentifier<T>) => Promise<T>;

/**
 * Runs plugins on a container, in order. Returns a function that gets the resulting services.
 * @throws {InvalidConfig} A plugin fails. One line names it and its error. The returned function throws the same.
 */
export async function loadPlugins(container: Container, plugins: readonly string[] = []): Promise<GetService> {
  for (const plugin of plugins) {
    try {
      const url = pathToFileURL(createRequire(join(process.cwd(), '/')).resolve(plugin)).href;
      const { default: install }: { readonly default?: unknown } = await import(url);
      if (typeof install !== 'function') throw new TypeError('its default export is not a function');
      await install(container);
    } catch (error) {
      throw toInvalidConfig(plugin, error);
    }
  }
  return async (service) => {
    try {
      return await container.getAsync(service);
    } catch (error) {
      // If the storage is unavailable, a retry helps, and a different setting does not.
      if (plugins.length === 0 || error instanceof StorageUnavailable) throw error;
      throw toInvalidConfig(plugins.join(), error);
    }
  };
}

function toInvalidConfig(plugins: string, error: unknown): InvalidConfig {
  const message = (error instanceof Error ? error.message : typeof error === 'string' ? error : '').trim();
  const [reason] = (message || 'it failed without a message').split('\n', 1);
  return new InvalidConfig(`PLUGINS=${JSON.stringify(plugins)}: ${reason}`);
}
