import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Container } from 'inversify';
import { type Config, InvalidConfig, version } from '../config.js';
import { flush } from '../logger.js';
import { loadContainer } from '../plugins.js';
import { services } from '../services.js';
import { print } from './output.js';

/** Minimum time for the storage to close, even if clients have used up `SHUTDOWN_TIMEOUT`. */
const MIN_CLOSE_MS = 1000;

/** Runs the service until SIGINT or SIGTERM. */
export async function run(config: Config): Promise<number> {
  const { host, port, managementHost, managementPort, shutdownTimeoutMs } = config;
  const container = await loadContainer(config);
  const log = await container.getAsync(services.Logger);
  process.on('uncaughtException', async (error) => {
    log.fatal({ err: error }, 'uncaught exception; exiting');
    await flush(log);
    process.exit(1);
  });
  const reloaded = await reloadTokensOnSighup(container);
  // First, so that an invalid setting leaves no new store behind.
  const { randomToken } = await container.getAsync(services.TokenVerifier);
  const storage = await container.getAsync(services.Storage);
  try {
    const repository = await container.getAsync(services.PlantRepository);
    const server = await container.getAsync(services.HttpServer);
    const management = await container.getAsync(services.ManagementServer);
    const stopped = new Promise<NodeJS.Signals>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeAllListeners(signal).on(signal, resolve);
    });
    let managementUrl: string | undefined;
    if (management && managementPort !== 'off')
      managementUrl = toUrl(managementHost, await management.listen(managementPort, managementHost));
    const url = `${toUrl(host, await server.listen(port, host))}${config.basePath ?? ''}`;
    const { name = config.database.replace(/:.*/s, ':'), driver, schema, warning } = storage;
    const facts = { version, node: process.version, storage: name, driver, schema, url, management: managementUrl };
    log.info(facts, 'started');
    if (warning) log.warn({ storage: name }, warning);
    const docs = config.docs ? `API documentation: ${url}/docs\n` : '';
    const health = managementUrl ? `Health and metrics: ${managementUrl}/healthz, /readyz, /metrics\n` : '';
    const example = randomToken ? curlExample(url, randomToken) : '';
    // The log has the addresses, too.
    await print(`Plant Store listens on ${url}\n${docs}${health}${example}`).catch(() => {});

    log.info({ signal: await stopped }, 'stopping');
    const deadline = performance.now() + shutdownTimeoutMs;
    await server.stop(shutdownTimeoutMs);
    // Group commit writes an empty batch after every create that is pending.
    const drained = repository.add([]).catch(() => {});
    const closing = drained.then(() => storage.close()).then(() => true);
    const timeout = setTimeout(Math.max(deadline - performance.now(), MIN_CLOSE_MS), false);
    const closed = await Promise.race([closing, timeout]);
    await reloaded();
    await management?.stop(0);
    log.info({ closed }, 'stopped');
    await flush(log);
    return closed ? 0 : 1;
  } catch (error) {
    await storage.close();
    throw error;
  }
}

function toUrl(host: string, { port }: AddressInfo): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

const curlExample = (url: string, token: string) => `
No token is configured. Until the service stops, it accepts only this random token. Create a plant:

curl -i ${url}/plants -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '{"id":1,"name":"Monstera","tag":"indoor"}'

`;

/** Returns a function that waits for the reload in progress, if any. */
async function reloadTokensOnSighup(container: Container): Promise<() => Promise<void>> {
  const log = await container.getAsync(services.Logger);
  let isValid = true;
  const help = '1 if ACCESS_TOKENS_FILE was valid when it was last read, otherwise 0.';
  (await container.getAsync(services.Metrics))?.gauge('tokens_last_reload_successful', help, () => Number(isValid));
  const reload = async () => {
    try {
      const tokens = await container.getAsync(services.TokenVerifier);
      await tokens.reload?.();
      isValid = true;
      log.info('tokens reloaded');
    } catch (error) {
      if (!(error instanceof InvalidConfig)) throw error;
      isValid = false;
      log.error({ reason: error.message }, 'keeping the previous tokens');
    }
  };
  let reloading = Promise.resolve();
  // One after another, so that the latest tokens are accepted.
  process.on('SIGHUP', () => (reloading = reloading.then(reload)));
  return () => reloading;
}
