import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Container } from 'inversify';
import requireFromString from 'require-from-string';
import type { Config } from './config.js';
import { toReason } from './describe-error.js';
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
    // `import` would resolve a name from this file, and `createRequire` knows no export condition `import`.
    const importModule = requireFromString('module.exports = (name) => import(name)', join(process.cwd(), '/'));
    const { default: exported } = await importModule(/^[./]/.test(name) ? pathToFileURL(resolve(name)).href : name);
    // TypeScript's CommonJS output has the plugin at `default.default`.
    const plugin = typeof exported === 'function' ? exported : Object(exported).default;
    if (typeof plugin !== 'function') throw new TypeError('its default export is not a function');
    await plugin(container, config);
  };
  try {
    await limitTime(call(), MAX_SECONDS * 1000, `no result within ${MAX_SECONDS} seconds`);
  } catch (error) {
    const [reason = ''] = /\S.*/.exec(toReason(error)) ?? [];
    const [, missing] = /^Cannot find package '(.+?)'/.exec(reason) ?? [];
    const hint = missing && `${name}/`.startsWith(`${missing}/`) ? '; the path of a file starts with ./' : '';
    // A URL may contain a password.
    throw new InvalidConfig(`PLUGINS: ${name.includes('://') ? 'a URL' : name}: ${reason}${hint}`);
  }
}
