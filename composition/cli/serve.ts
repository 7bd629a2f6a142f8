import { setTimeout } from 'node:timers/promises';
import type { Container } from 'inversify';
import { InvalidTokenList } from '../../adapters/driven/static-token/index.js';
import type { HttpServer } from '../../adapters/driving/http/index.js';
import { type Config, readTokensFile } from '../config.js';
import { createContainer, isReplaced, services } from '../container.js';
import { InvalidConfig } from '../invalid-config.js';
import { loadPlugins } from '../plugins.js';
import { logNewStore } from '../storage.js';
import { isCredentialConfigured, readTokens } from '../tokens.js';
import { readVersion } from '../version.js';
import { failTo } from './output.js';
import { onStop } from './signals.js';
import { createToken } from './token.js';

/** Runs the service until a signal stops it. Resolves to the exit code of the process. */
export async function run(settings: Config): Promise<number> {
  const container = createContainer(settings);
  logNewStore(container);
  const createServices = await loadPlugins(container, settings);
  const config = await container.getAsync(services.Config);
  const needsToken =
    !isReplaced(container, services.TokenVerifier, services.StaticTokens) && !isCredentialConfigured(config);
  const randomToken = needsToken ? createToken().token : undefined;
  if (randomToken) (await container.getAsync(services.StaticTokens)).replace([randomToken]);
  await createServices();
  // Loads Koa while the storage opens.
  void import('../../adapters/driving/koa/index.js');
  const log = await container.getAsync(services.Logger);
  const tokensFile = config.accessTokensFile && { ...config.accessTokensFile, isValid: true };
  (await container.getAsync(services.Metrics))?.observe('tokensFile', tokensFile);
  process.on('SIGHUP', async () => {
    if (tokensFile) Object.assign(tokensFile, await reloadTokens(tokensFile.path, container));
    else log.warn('ACCESS_TOKENS_FILE is not set; nothing to reload');
  });
  process.on('SIGUSR2', () => {
    log.level = log.level === 'debug' ? config.logLevel : 'debug';
    log.warn({ logLevel: log.level }, 'log level changed');
  });
  // Node would open its debugger.
  process.on('SIGUSR1', () => {});
  // A closed standard output must not end the service.
  process.stdout.on('error', () => {});
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception; exiting');
    process.exit(1);
  });

  const storage = await container.getAsync(services.Storage);
  try {
    const server = await container.getAsync(services.HttpServer);
    const stopped = new Promise<NodeJS.Signals>(onStop);
    const managementServer = await container.getAsync(services.ManagementServer);
    let management: string | undefined;
    if (managementServer && config.managementPort !== 'off')
      management = await listen(managementServer, 'MANAGEMENT_', config.managementHost, config.managementPort);
    const url = `${await listen(server, '', config.host, config.port)}${config.basePath ?? ''}`;
    storage.ready().catch((error: unknown) => log.warn({ err: error }, 'not ready: creates may fail'));
    const { name, driver, schema } = await container.getAsync(services.Storage);
    const { version: node } = process;
    log.info({ version: readVersion(), node, storage: name, driver, schema, url, management }, 'started');
    const managementLine = management ? `Health and metrics: ${management}/healthz, /readyz, /metrics\n` : '';
    const docsLine = config.docs ? `API documentation: ${url}/docs\n` : '';
    const example = randomToken ? curlExample(url, randomToken) : '';
    process.stdout.write(`Plant Store listens on ${url}\n${docsLine}${managementLine}${example}`);

    log.info({ signal: await stopped }, 'stopping');
    const deadline = performance.now() + config.shutdownTimeoutMs;
    await server.stop(config.shutdownTimeoutMs);
    // A stalled client may have taken all of the time, but leaves no create in the storage.
    const timeout = setTimeout(Math.max(1000, deadline - performance.now()), false);
    const closed = await Promise.race([storage.close().then(() => true), timeout]);
    await managementServer?.stop();
    log.info({ closed }, 'stopped');
    return closed ? 0 : 1;
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** Starts a server. Resolves to its URL; `prefix` names its settings in errors. */
async function listen(server: Pick<HttpServer, 'listen'>, prefix: string, host: string, port: number): Promise<string> {
  try {
    const address = await server.listen(port, host);
    return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
  } catch (error) {
    return failTo(`listen on ${prefix}HOST=${host} ${prefix}PORT=${port}`, error);
  }
}

const curlExample = (url: string, token: string) => `
No token is configured. Until the service stops, it accepts only this random token. Create a plant:

curl -i ${url}/plants -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '{"id":1,"name":"Monstera","tag":"indoor"}'

`;

/** Reads the tokens file again, and keeps the previous tokens if it is invalid. Resolves to the changes for its metrics. */
async function reloadTokens(path: string, container: Container) {
  const log = await container.getAsync(services.Logger);
  try {
    const accessTokensFile = readTokensFile(path);
    const tokens = readTokens({ ...(await container.getAsync(services.Config)), accessTokensFile }, log);
    (await container.getAsync(services.StaticTokens)).replace(tokens);
    log.info({ tokens: tokens.length }, 'ACCESS_TOKENS_FILE reloaded');
    return { isValid: true, loadedAtMs: accessTokensFile.loadedAtMs };
  } catch (error) {
    if (!(error instanceof InvalidTokenList || error instanceof InvalidConfig)) throw error;
    log.error({ reason: error.message }, 'ACCESS_TOKENS_FILE is invalid; keeping the previous tokens');
    return { isValid: false };
  }
}
