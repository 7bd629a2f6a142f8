import type { Container } from 'inversify';
import { type Config, findTypos } from '../config.js';
import { flush } from '../logger.js';
import { services } from '../services.js';
import { start } from '../start.js';
import { print } from './output.js';
import { onSignal } from './signals.js';
import { notifySystemd } from './systemd.js';

/** Runs the service until SIGINT or SIGTERM. Later signals change nothing. */
export async function run(config: Config, { environment }: { environment: NodeJS.ProcessEnv }): Promise<number> {
  const { url, managementUrl, isReady, container, stop } = await start(config, (container) => {
    exitOnUncaughtException(container);
    reloadOnSighup(container);
  });
  const received = new Promise<NodeJS.Signals>(onSignal);
  const log = container.get(services.Logger);
  for (const problem of findTypos(environment)) log.warn(problem);
  if (process.env['NOTIFY_SOCKET']) void notifySystemd(isReady, log);
  const tokens = container.get(services.AccessTokens);
  // A plugin may have replaced the verifier.
  const randomToken = container.get(services.TokenVerifier) === tokens ? tokens.randomToken : undefined;
  const docs = config.docs ? `API documentation: ${url}/docs\n` : '';
  const health = managementUrl ? `Health and metrics: ${managementUrl}/healthz, /readyz, /metrics\n` : '';
  const example = randomToken ? curlExample(url, randomToken) : '';
  // The log has the addresses, too.
  print(`Plant Store listens on ${url}\n${docs}${health}${example}`).catch(() => {});
  log.info({ signal: await received }, 'stopping');
  return (await stop()) ? 0 : 1;
}

function exitOnUncaughtException(container: Container): void {
  process.on('uncaughtException', async (error) => {
    try {
      const log = await container.getAsync(services.Logger);
      log.fatal({ err: error }, 'uncaught exception; exiting');
      await flush(await container.getAsync(services.LogDestination));
    } finally {
      process.exit(1);
    }
  });
}

/** Reads the tokens file again on SIGHUP, and logs how it went. */
function reloadOnSighup(container: Container): void {
  const reload = async () => {
    const tokens = await container.getAsync(services.AccessTokens);
    const log = await container.getAsync(services.Logger);
    try {
      tokens.reload();
      log.info('tokens reloaded');
    } catch (error) {
      log.error({ reason: error instanceof Error ? error.message : error }, 'keeping the previous tokens');
    }
  };
  // `start` reports a part that cannot be created.
  process.on('SIGHUP', () => reload().catch(() => {}));
}

const curlExample = (url: string, token: string) => `
No token is configured. Until the service stops, it accepts only this random token. Create a plant:

curl -i ${url}/plants -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '{"id":1,"name":"Monstera","tag":"indoor"}'

`;
