import { setTimeout } from 'node:timers/promises';
import type { Container } from 'inversify';
import type { Logger } from 'pino';
import { InvalidTokenList } from '../../adapters/driven/static-token/index.js';
import type { HttpServer } from '../../adapters/driving/http/index.js';
import { type Config, readTokensFile } from '../config.js';
import { createContainer, isReplaced, services } from '../container.js';
import { InvalidConfig } from '../invalid-config.js';
import { loadPlugins } from '../plugins.js';
import { logNewStore } from '../storage.js';
import { configuredTokens, isCredentialConfigured, warnOfShortTokens } from '../tokens.js';
import { readVersion } from '../version.js';
import { translateErrors } from './command-error.js';
import { onSignals } from './signals.js';
import { createToken } from './token.js';

/** Runs the service until a signal stops it. Resolves to the exit code of the process. */
export async function run(settings: Config): Promise<number> {
  const container = createContainer(settings);
  logNewStore(container);
  const createServices = await loadPlugins(container, settings);
  const config = await container.getAsync(services.Config);
  const hasVerifier = isReplaced(container, services.TokenVerifier, services.StaticTokens);
  const randomToken = hasVerifier ? undefined : await addRandomTokenIfNone(config, container);
  await createServices();
  // Loads Koa while the storage opens.
  void import('../../adapters/driving/koa/index.js');
  const log = await container.getAsync(services.Logger);
  const tokensFile = { isValid: true, loadedAtMs: Date.now() };
  if (config.accessTokensFile) (await container.getAsync(services.Metrics))?.observe('tokensFile', tokensFile);
  process.on('SIGHUP', () => reloadTokens(container, config, log, tokensFile));
  process.on('SIGUSR2', () => toggleDebug(log, config));
  // Node would open its debugger.
  process.on('SIGUSR1', () => {});
  // A closed standard output must not end the service.
  process.stdout.on('error', () => {});
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception; exiting');
    process.exit(1);
  });

  const storage = await container.getAsync(services.MonitoredStorage);
  try {
    const server = await container.getAsync(services.HttpServer);
    const stopped = new Promise<NodeJS.Signals>((stop) => onSignals(['SIGINT', 'SIGTERM'], stop));
    const management = await container.getAsync(services.ManagementServer);
    let managementUrl: string | undefined;
    if (management && config.managementPort !== 'off') {
      managementUrl = await listen(management, 'MANAGEMENT_', config.managementHost, config.managementPort);
    }
    const url = `${await listen(server, '', config.host, config.port)}${config.basePath ?? ''}`;
    const managementLine = managementUrl ? `Health and metrics: ${managementUrl}/healthz, /readyz, /metrics\n` : '';
    const docsLine = config.docs ? `API documentation: ${url}/docs\n` : '';
    const example = randomToken ? curlExample(url, randomToken) : '';
    storage.ready().catch((error: unknown) => log.warn({ err: error }, 'not ready: creates may fail'));
    const { name, driver, schema } = await container.getAsync(services.Storage);
    const { version: node } = process;
    log.info(
      { version: readVersion(), node, storage: name, driver, schema, url, management: managementUrl },
      'started',
    );
    process.stdout.write(`Plant Store listens on ${url}\n${docsLine}${managementLine}${example}`);

    log.info({ signal: await stopped }, 'stopping');
    const deadline = performance.now() + config.shutdownTimeoutMs;
    const finished = await server.stop(config.shutdownTimeoutMs);
    const timeout = setTimeout(Math.max(0, deadline - performance.now()), false);
    const closed = await Promise.race([storage.close().then(() => true), timeout]);
    await management?.stop();
    log.info({ finished, closed }, 'stopped');
    return finished && closed ? 0 : 1;
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** Starts a server. Resolves to its URL; `prefix` names its settings in errors. */
function listen(server: Pick<HttpServer, 'listen'>, prefix: string, host: string, port: number): Promise<string> {
  return translateErrors(`listen on ${prefix}HOST=${host} ${prefix}PORT=${port}`, async () => {
    const address = await server.listen(port, host);
    return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
  });
}

/** Accepts a random token if none is configured and only this machine can reach the service. Resolves to that token. */
async function addRandomTokenIfNone(config: Config, container: Container): Promise<string | undefined> {
  if (isCredentialConfigured(config)) return undefined;
  const { token } = createToken();
  (await container.getAsync(services.StaticTokens)).replace([token]);
  return token;
}

const curlExample = (url: string, token: string) => `
No token is configured. Until the service stops, it accepts only this random token. Create a plant:

curl -i ${url}/plants -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '{"id":1,"name":"Monstera","tag":"indoor"}'

`;

/** Switches between the configured log level and `debug`. */
function toggleDebug(log: Logger, { logLevel }: Config): void {
  log.level = log.level === 'debug' ? logLevel : 'debug';
  log.warn({ level: log.level }, 'log level changed');
}

async function reloadTokens(
  container: Container,
  config: Config,
  log: Logger,
  file: { isValid: boolean; loadedAtMs: number },
): Promise<void> {
  const path = config.accessTokensFile?.path;
  if (path === undefined) return log.warn('ACCESS_TOKENS_FILE is not set; nothing to reload');
  const verifier = await container.getAsync(services.StaticTokens);
  try {
    const current = { ...config, accessTokensFile: readTokensFile(path) };
    const tokens = configuredTokens(current);
    verifier.replace(tokens);
    Object.assign(file, { isValid: true, loadedAtMs: Date.now() });
    log.info({ tokens: tokens.length }, 'ACCESS_TOKENS_FILE reloaded');
    warnOfShortTokens(current, log);
  } catch (error) {
    if (!(error instanceof InvalidTokenList || error instanceof InvalidConfig)) throw error;
    file.isValid = false;
    log.error({ reason: error.message }, 'ACCESS_TOKENS_FILE is invalid; keeping the previous tokens');
  }
}
