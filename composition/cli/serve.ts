import type { Container } from 'inversify';
import type { Logger } from 'pino';
import { type Config, findTypos } from '../config.js';
import { flush, type LogDestination } from '../logger.js';
import { services } from '../services.js';
import { start } from '../start.js';
import { print } from './output.js';
import { onSignal } from './signals.js';
import { notifySystemd } from './systemd.js';

/** Runs the service until SIGINT or SIGTERM. Later signals change nothing. */
export async function run(config: Config, { environment }: { environment: NodeJS.ProcessEnv }): Promise<number> {
  const { url, managementUrl, isReady, container, stop } = await start(config, async (container) => {
    const log = await container.getAsync(services.Logger);
    logWarnings(log);
    exitOnUncaughtException(log, await container.getAsync(services.LogDestination));
    reloadOnSighup(container, log);
  });
  const received = new Promise<NodeJS.Signals>(onSignal);
  const log = container.get(services.Logger);
  for (const problem of findTypos(environment)) log.warn(problem);
  if (process.env['NOTIFY_SOCKET']) void notifySystemd(isReady, log);
  const tokens = container.get(services.AccessTokens);
  // A plugin may have replaced the verifier.
  const randomToken = container.get(services.TokenVerifier) === tokens ? tokens.randomToken : undefined;
  const docs = container.hasDocs ? `API documentation: ${url}/docs\n` : '';
  const health = managementUrl ? `Health and metrics: ${managementUrl}/healthz, /readyz, /metrics\n` : '';
  const example = randomToken ? curlExample(url, randomToken) : '';
  // The log has the addresses, too.
  print(`Plant Store listens on ${url}\n${docs}${health}${example}`).catch(() => {});
  log.info({ signal: await received }, 'stopping');
  return (await stop()) ? 0 : 1;
}

/** Logs warnings of Node, instead of printing them between the lines of the log. */
function logWarnings(log: Logger): void {
  process.removeAllListeners('warning').on('warning', ({ name, message }) => log.warn({ type: name }, message));
}

function exitOnUncaughtException(log: Logger, destination: LogDestination): void {
  process.on('uncaughtException', async (error) => {
    try {
      log.fatal({ err: error }, 'uncaught exception; exiting');
      await flush(destination);
    } finally {
      process.exit(1);
    }
  });
}

/** Reads the tokens file again on SIGHUP, and logs how it went. */
function reloadOnSighup(container: Container, log: Logger): void {
  const reload = async () => {
    const tokens = await container.getAsync(services.AccessTokens);
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
