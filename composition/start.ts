import type { Config } from './config.js';
import { createContainer } from './container.js';
import { flush } from './logger.js';
import type { Plugin } from './plugins.js';
import type { ServiceContainer } from './service-container.js';
import { services } from './services.js';
import { toScheme } from './storages.js';
import { version } from './version.js';

/** A running service. */
export interface Service {
  /** The address of the HTTP API, with `BASE_PATH`. */
  readonly url: string;
  /** The address of the management listener. Absent if `MANAGEMENT_PORT` is `off`. */
  readonly managementUrl: string | undefined;
  /** Checks the storage and what plugins add, as `/readyz` does. Logs why it is not ready. */
  readonly isReady: () => Promise<boolean>;
  /** The container with the parts. */
  readonly container: ServiceContainer;
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
  const container = await createContainer(config);
  try {
    await plugin(container, config);
    const service = await listen(container, config);
    let stopped: Promise<boolean> | undefined;
    return { ...service, container, stop: () => (stopped ??= stop(container)) };
  } catch (error) {
    await container.close().catch(() => {});
    throw error;
  }
}

/** Creates the parts, opens the listeners, and logs what has started. */
async function listen(container: ServiceContainer, config: Config): Promise<Omit<Service, 'container' | 'stop'>> {
  // First, so that an invalid setting leaves no new store behind.
  const tokens = await container.getAsync(services.AccessTokens);
  await container.getAsync(services.TokenVerifier);
  const storage = await container.getAsync(services.Storage);
  const listener = await container.getAsync(services.RequestListener);
  const log = await container.getAsync(services.Logger);
  const observe = await container.getAsync(services.ObserveRequest);
  const { HttpServer } = await import('@plant-store/adapters/http-server');
  const { createManagementServer, createReadiness } = await import('@plant-store/adapters/management');
  const server = new HttpServer(listener, { ...config, log, observe });
  const further = await container.getAllAsync(services.ReadinessCheck, { optional: true });
  const checks = [{ name: 'storage', check: () => storage.ready() }, ...further];
  const checkReadiness = createReadiness(checks, () => server.isStopping, log);
  const isReady = async () => (await checkReadiness()).isReady;

  let managementUrl: string | undefined;
  if (config.managementPort !== 'off') {
    const { measureService } = await import('./metrics.js');
    const metrics = await container.getAsync(services.Metrics);
    measureService(metrics, isReady, await container.getAsync(services.LogDestination), tokens);
    const management = createManagementServer(checkReadiness, metrics);
    container.onClose('management', () => management.stop());
    managementUrl = await management
      .listen(config.managementPort, config.managementHost)
      .catch(nameSetting('MANAGEMENT_'));
  }
  container.onClose('server', () => server.stop());
  const origin = await server.listen(config.port, config.host).catch(nameSetting(''));
  const url = origin + (config.basePath ?? '');

  const { name = toScheme(config), driver, schema, warnings = [] } = storage;
  const started = { version, node: process.version, storage: name, driver, schema, url, management: managementUrl };
  log.info(started, 'started');
  for (const warning of warnings) log.warn({ storage: name }, warning);
  return { url, managementUrl, isReady };
}

/** Returns a function that rethrows the error of a listener with the name of its setting. */
function nameSetting(prefix: '' | 'MANAGEMENT_') {
  return (error: NodeJS.ErrnoException): never => {
    const isPort = error.syscall === 'listen' && /^(EADDRINUSE|EACCES)$/.test(`${error.code}`);
    error.message = `${prefix}${isPort ? 'PORT' : 'HOST'}: ${error.message}`;
    throw error;
  };
}

async function stop(container: ServiceContainer): Promise<boolean> {
  const log = container.get(services.Logger);
  const destination = container.get(services.LogDestination);
  const failures = await container.closeParts();
  for (const [part, err] of failures) log.error({ part, err }, 'a part failed to close');
  const closed = !failures.has('group commit') && !failures.has('storage');
  log.info({ closed }, 'stopped');
  // What plugins have opened is left.
  await container.close().catch((err) => log.error({ err }, 'a plugin failed to close'));
  await flush(destination);
  return closed;
}
