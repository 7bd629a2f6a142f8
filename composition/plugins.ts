import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Container } from 'inversify';
import type { Config } from './config.js';
import { InvalidConfig } from './files.js';
import { limitTime } from './time-limit.js';

/** Maximum time for a plugin to be loaded and to settle, in seconds. */
const MAX_SECONDS = 10;

/** The default export of a module that `PLUGINS` names. Binds storages, or rebinds or wraps other `services`. */
export type Plugin = (container: Container, config: Config) => void | Promise<void>;

/**
 * Imports a plugin, and calls it.
 * @throws {InvalidConfig} It cannot be loaded, or fails. One line names it.
 */
export async function installPlugin(name: string, container: Container, config: Config): Promise<void> {
  const call = async () => {
    // From the working directory, so that a global `plant-store` finds local packages.
    const { resolve } = createRequire(join(process.cwd(), '/'));
    const { default: plugin } = await import(pathToFileURL(resolve(name)).href);
    if (typeof plugin !== 'function') throw new TypeError('its default export is not a function');
    await plugin(container, config);
  };
  try {
    await limitTime(call(), MAX_SECONDS * 1000, `no result within ${MAX_SECONDS} seconds`);
  } catch (error) {
    const [reason = ''] = `${error instanceof Error ? error.message : error}`.split('\n', 1);
    // Its name may be a secret in the wrong variable.
    if (reason.startsWith('Cannot find module') && !/^[./]/.test(name))
      throw new InvalidConfig(
        `PLUGINS: a package is not found from ${process.cwd()}; the path of a file starts with ./`,
      );
    throw new InvalidConfig(`PLUGINS: ${name}: ${reason}`);
  }
}
