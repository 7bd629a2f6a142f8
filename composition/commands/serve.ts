import { statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { HttpServer } from '../../adapters/koa/index.js';
import { InvalidTokenList } from '../../adapters/static-token/index.js';
import { translateErrors } from '../command-error.js';
import { type Config, InvalidConfig } from '../config.js';
import { createContainer, isReplaced, services } from '../container.js';
import { type GetService, loadPlugins } from '../plugins.js';
import { onSignals } from '../signals.js';
import { configuredTokens, readTokensFile } from '../tokens.js';
import { isLoopback } from '../urls.js';
import { createToken } from './token.js';

/** Runs the service until a signal stops it. Resolves to the exit code of the process. */
export async function run(settings: Config): Promise<number> {
  const container = createContainer(settings);
  const get = await loadPlugins(container, settings.plugins);
  const config = await get(services.Config);
  const hasVerifier = isReplaced(container, services.TokenVerifier, services.StaticTokens);
  const randomToken = hasVerifier ? undefined : await addMissingToken(config, get);
  // Loads Koa while the storage opens.
  void import('../../adapters/koa/index.js');
  const log = await get(services.Logger);
  const file = config.accessTokensFile;
  if (file) process.on('SIGHUP', () => reloadTokens(get, config, file.path, log));
  // A closed standard output must not end the service.
  process.stdout.on('error', () => {});
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception; exiting');
    process.exit(1);
  });

  const repository = await get(services.PlantRepository);
  try {
    const server = await get(services.HttpServer);
    const stopSignals: NodeJS.Signals[] = file ? ['SIGINT', 'SIGTERM'] : ['SIGINT', 'SIGTERM', 'SIGHUP'];
    const stopped = new Promise<NodeJS.Signals>((stop) => onSignals(stopSignals, stop));
    const management = await get(services.ManagementServer);
    let managementLine = '';
    if (management && config.managementPort !== 'off') {
      const url = await listen(management, 'MANAGEMENT_', config.managementHost, config.managementPort);
      managementLine = `Health and metrics: ${url}/healthz, /readyz, /metrics\n`;
    }
    const url = `${await listen(server, '', config.host, config.port)}${config.basePath ?? ''}`;
    const docsLine = config.docs ? `API documentation: ${url}/docs\n` : '';
    const example = randomToken ? curlExample(url, randomToken) : '';
    process.stdout.write(`Plant Store listens on ${url}\n${docsLine}${managementLine}${example}`);

    log.info({ signal: await stopped }, 'stopping');
    const deadline = performance.now() + config.shutdownTimeoutMs;
    const finished = await server.stop(config.shutdownTimeoutMs);
    const timeout = setTimeout(Math.max(0, deadline - performance.now()), false);
    const closed = await Promise.race([repository.close().then(() => true), timeout]);
    await management?.stop();
    log.info({ finished, closed }, 'stopped');
    return finished ? 0 : 1;
  } catch (error) {
    await repository.close();
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
async function addMissingToken(config: Config, get: GetService): Promise<string | undefined> {
  const { accessTokens, accessTokensFile, jwtIssuer, host } = config;
  if ((accessTokens ?? accessTokensFile ?? jwtIssuer) !== undefined) return undefined;
  if (!isLoopback(host)) {
    throw new InvalidConfig(
      `ACCESS_TOKENS, ACCESS_TOKENS_FILE or JWT_ISSUER must be set: HOST=${JSON.stringify(host)} is not a loopback address; create a token with plant-store token (docker run --rm plant-store token)`,
    );
  }
  const { token } = createToken();
  (await get(services.StaticTokens)).replace([token]);
  return token;
}

const curlExample = (url: string, token: string) => `
No token is configured. Until the service stops, it accepts only this random token. Create a plant:

curl -i ${url}/plants -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '{"id":1,"name":"Monstera","tag":"indoor"}'

`;

async function reloadTokens(get: GetService, config: Config, path: string, log: Logger): Promise<void> {
  const verifier = await get(services.StaticTokens);
  try {
    // Reading a pipe would block the service.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) {
      throw new InvalidTokenList('the path is not a regular file');
    }
    const tokens = configuredTokens({ ...config, accessTokensFile: readTokensFile(path) });
    verifier.replace(tokens);
    log.info({ tokens: tokens.length }, 'ACCESS_TOKENS_FILE reloaded');
  } catch (error) {
    if (!(error instanceof InvalidTokenList)) throw error;
    log.error({ reason: error.message }, 'ACCESS_TOKENS_FILE is invalid; keeping the previous tokens');
  }
}
