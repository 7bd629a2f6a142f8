import type { Container } from 'inversify';
import { type Config, version } from './config.js';
import { closeContainer, closeStorage, createContainer, httpModule, managementModule } from './container.js';
import { flush } from './logger.js';
import type { Plugin } from './plugins.js';
import { services } from './services.js';
import { toStorageName } from './storages.js';
import { isInTime } from './time-limit.js';

/** Minimum time for the storage, and then for the rest, to close, even if clients have used up `SHUTDOWN_TIMEOUT`. */
const MIN_CLOSE_MS = 1000;

/** A running service. */
export interface Service {
  /** The address of the HTTP API, with `BASE_PATH`. */
  readonly url: string;
  /** The address of the management listener. Absent if `MANAGEMENT_PORT` is `off`. */
  readonly managementUrl: string | undefined;
  /** The parts, of which `get` returns each. */
  readonly container: Container;
  /** Finishes the requests in progress, and closes every part. Resolves to whether the storage was closed in time. */
  readonly stop: () => Promise<boolean>;
}

/**
 * Starts the service.
 * @param plugin Called after those of the settings, before anything is opened.
 * @throws {InvalidConfig} A setting or a plugin is invalid.
 * @throws {StorageUnavailable} The storage cannot be opened.
 */
export async function start(config: Config, plugin: Plugin = () => {}): Promise<Service> {
  const hasManagement = config.managementPort !== 'off';
  const container = await createContainer(config, httpModule, ...(hasManagement ? [managementModule] : []));
  try {
    await plugin(container);
    if (hasManagement) (await import('./measure.js')).measure(container);
    const urls = await listen(container, config);
    let stopped: Promise<boolean> | undefined;
    return { ...urls, container, stop: () => (stopped ??= stop(container, config.shutdownTimeoutMs)) };
  } catch (error) {
    // A plugin may have logged the cause.
    await container.getAsync(services.LogDestination).then(flush, () => {});
    await isInTime(closeContainer(container), MIN_CLOSE_MS).catch(() => {});
    throw error;
  }
}

/** Creates the parts, opens the listeners, and logs what has started. */
async function listen(container: Container, config: Config): Promise<Pick<Service, 'url' | 'managementUrl'>> {
  const { managementPort, basePath = '' } = config;
  // First, so that an invalid setting leaves no new store behind.
  await container.getAsync(services.AccessTokens);
  await container.getAsync(services.TokenVerifier);
  const storage = await container.getAsync(services.Storage);
  const server = await container.getAsync(services.HttpServer);
  const log = await container.getAsync(services.Logger);
  let management: string | undefined;
  if (managementPort !== 'off') {
    const managementServer = await container.getAsync(services.ManagementServer);
    management = await managementServer.listen(managementPort, config.managementHost).catch(nameSetting('MANAGEMENT_'));
  }
  const url = `${await server.listen(config.port, config.host).catch(nameSetting(''))}${basePath}`;
  const { driver, schema, warning } = storage;
  const name = toStorageName(storage, config);
  log.info({ version, node: process.version, storage: name, driver, schema, url, management }, 'started');
  if (warning) log.warn({ storage: name }, warning);
  return { url, managementUrl: management };
}

/** Returns a function that rethrows the error of a listener with the name of its setting. */
function nameSetting(prefix: '' | 'MANAGEMENT_') {
  return (error: NodeJS.ErrnoException): never => {
    const isPort = error.code === 'EADDRINUSE' || error.code === 'EACCES';
    // The message would contain the host name, which may be a secret in the wrong variable.
    const reason = error.syscall === 'getaddrinfo' ? `cannot be resolved (${error.code})` : error.message;
    error.message = `${prefix}${isPort ? 'PORT' : 'HOST'}: ${reason}`;
    throw error;
  };
}

async function stop(container: Container, timeoutMs: number): Promise<boolean> {
  const log = container.get(services.Logger);
  const destination = container.get(services.LogDestination);
  const deadline = performance.now() + timeoutMs;
  const fail = async (err: unknown) => {
    log.error({ err }, 'a part failed to close');
    await flush(destination);
    return false;
  };
  await container.get(services.HttpServer).stop();
  const timeLeft = Math.max(deadline - performance.now(), MIN_CLOSE_MS);
  const closed = await isInTime(closeStorage(container), timeLeft).catch(fail);
  log.info({ closed }, 'stopped');
  await flush(destination);
  // Management, what plugins have opened, and the log.
  await isInTime(container.unbindAllAsync(), MIN_CLOSE_MS).catch(fail);
  return closed;
}
