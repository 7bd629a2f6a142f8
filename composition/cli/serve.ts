import type { Container } from 'inversify';
import { type Config, findTypos } from '../config.js';
import { toReason } from '../describe-error.js';
import { flush } from '../logger.js';
import { services } from '../services.js';
import { start } from '../start.js';
import { print } from './output.js';
import { onSignal } from './signals.js';
import { notifySystemd } from './systemd.js';

/** Runs the service until SIGINT or SIGTERM. Later signals change nothing. */
export async function run(config: Config, { environment }: { environment: NodeJS.ProcessEnv }): Promise<number> {
  const { url, managementUrl, isReady, container, stop } = await start(config, handleProcessEvents);
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

/** Handles warnings, uncaught exceptions and SIGHUP. */
async function handleProcessEvents(container: Container): Promise<void> {
  const log = await container.getAsync(services.Logger);
  const destination = await container.getAsync(services.LogDestination);
  const tokens = await container.getAsync(services.AccessTokens);
  // Node's own listener prints text, but knows --disable-warning and other flags. With --no-warnings, Node has none.
  const onWarning = process.listeners('warning').find(({ name }) => name === 'onWarning');
  if (onWarning && !/-warning/.test(`${process.execArgv} ${process.env['NODE_OPTIONS']}`))
    process.off('warning', onWarning).on('warning', ({ name, message }) => log.warn({ type: name }, message));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception; exiting');
    flush(destination).finally(() => process.exit(1));
  });
  process.on('SIGHUP', () => {
    try {
      tokens.reload();
      log.info('tokens reloaded');
    } catch (error) {
      log.error({ reason: toReason(error) }, 'keeping the previous tokens');
    }
  });
}

const curlExample = (url: string, token: string) => `
No token is configured. Until the service stops, it accepts only this random token. Create a plant:

curl -i ${url}/plants -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '{"id":1,"name":"Monstera","tag":"indoor"}'

`;
