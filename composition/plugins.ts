import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Container } from 'inversify';
import { type Config, InvalidConfig } from './config.js';
import { createContainer } from './container.js';
import { limitTime } from './time-limit.js';

/** The default export of a module that `PLUGINS` names. Binds storages, or rebinds the `services` that it replaces. */
export type Plugin = (container: Container) => void | Promise<void>;

/**
 * Creates a container and calls the plugins on it, in order. Resolves their names from the working directory, so that a
 * global `plant-store` finds local packages.
 * @throws {InvalidConfig} A plugin cannot be loaded, or fails. One line names it.
 */
export async function loadContainer(config: Config): Promise<Container> {
  const container = createContainer(config);
  const { resolve } = createRequire(join(process.cwd(), '/'));
  const run = async (plugin: string) => {
    const { default: install } = await import(pathToFileURL(resolve(plugin)).href);
    if (typeof install !== 'function') throw new TypeError('its default export is not a function');
    await install(container);
  };
  for (const plugin of config.plugins) {
    try {
      await limitTime(run(plugin));
    } catch (error) {
      const [reason = ''] = `${error instanceof Error ? error.message : error}`.split('\n', 1);
      // Its name may be a secret in the wrong variable.
      if (reason.startsWith('Cannot find module') && !/^[./]/.test(plugin))
        throw new InvalidConfig('PLUGINS: a package is not installed; the path of a file starts with ./');
      throw new InvalidConfig(`PLUGINS: ${plugin}: ${reason}`);
    }
  }
  return container;
}
