import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Container } from 'inversify';
import { type Config, InvalidConfig, version } from '../config.js';
import { createContainer } from '../container.js';
import { flush } from '../logger.js';
import { loadPlugins } from '../plugins.js';
import { services } from '../services.js';
import { print } from './output.js';
import { nextSignal } from './signals.js';

/** Minimum time for the storage to close, even if clients have used up `SHUTDOWN_TIMEOUT`. */
const MIN_CLOSE_MS = 1000;

/** Runs the service until a signal stops it. */
export async function run(config: Config): Promise<number> {
  const container = createContainer(config);
  await loadPlugins(container, config.plugins);
  const log = await container.getAsync(services.Logger);
  process.on('uncaughtException', async (error) => {
    log.fatal({ err: error }, 'uncaught exception; exiting');
    await flush(log);
    process.exit(1);
  });
  // First, so that an invalid setting does not leave a new storage behind.
  const { randomToken } = await container.getAsync(services.TokenVerifier);
  await reloadTokensOnSighup(container);

  const storage = await container.getAsync(services.Storage);
  try {
    const server = await container.getAsync(services.HttpServer);
    const management = await container.getAsync(services.ManagementServer);
    const stopped = nextSignal();
    let managementUrl: string | undefined;
    if (management && config.managementPort !== 'off')
      managementUrl = toUrl(await management.listen(config.managementPort, config.managementHost), config.managementHost);
    const url = `${toUrl(await server.listen(config.port, config.host), config.host)}${config.basePath ?? ''}`;
    const { name, driver, schema, warning } = storage;
    const { version: node } = process;
    log.info({ version, node, storage: name, driver, schema, url, management: managementUrl }, 'started');
    if (warning) log.warn({ storage: name }, warning);
    await print(`Plant Store listens on ${url}\n`);
    if (config.docs) await print(`API documentation: ${url}/docs\n`);
    if (managementUrl) await print(`Health and metrics: ${managementUrl}/healthz, /readyz, /metrics\n`);
    if (randomToken) await print(curlExample(url, randomToken));

    log.info({ signal: await stopped }, 'stopping');
    const deadline = performance.now() + config.shutdownTimeoutMs;
    await server.stop(config.shutdownTimeoutMs);
    const timeout = setTimeout(Math.max(deadline - performance.now(), MIN_CLOSE_MS), false);
    const closed = await Promise.race([close(container), timeout]);
    await management?.stop();
    log.info({ closed }, 'stopped');
    await flush(log);
    return closed ? 0 : 1;
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** Waits for the creates that still wait for the storage, and closes it. */
async function close(container: Container): Promise<boolean> {
  const repository = await container.getAsync(services.PlantRepository);
  // Group commit writes it after every create that is pending.
  await repository.add([]).catch(() => {});
  await (await container.getAsync(services.Storage)).close();
  return true;
}

function toUrl({ port }: AddressInfo, host: string): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

const curlExample = (url: string, token: string) => `
No token is configured. Until the service stops, it accepts only this random token. Create a plant:

curl -i ${url}/plants -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '{"id":1,"name":"Monstera","tag":"indoor"}'

`;

async function reloadTokensOnSighup(container: Container): Promise<void> {
  const log = await container.getAsync(services.Logger);
  const metrics = await container.getAsync(services.Metrics);
  const tokens = await container.getAsync(services.TokenVerifier);
  let isValid = true;
  const help = '1 if ACCESS_TOKENS_FILE was valid when it was last read, otherwise 0.';
  metrics?.gauge('tokens_last_reload_successful', help, () => Number(isValid));
  process.on('SIGHUP', () => {
    try {
      tokens.reload?.();
      isValid = true;
      log.info('tokens reloaded');
    } catch (error) {
      if (!(error instanceof InvalidConfig)) throw error;
      isValid = false;
      log.error({ reason: error.message }, 'keeping the previous tokens');
    }
  });
}
