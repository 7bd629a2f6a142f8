import { setTimeout } from 'node:timers/promises';
import type { Container } from 'inversify';
import type { Logger } from 'pino';
import type { HttpServer } from '../../adapters/koa/index.js';
import { InvalidTokenList } from '../../adapters/static-token/index.js';
import { type Config, InvalidConfig } from '../config.js';
import { createContainer, services } from '../container.js';
import { CommandFailure } from '../failure.js';
import { onSignals } from '../signals.js';
import { rereadTokensOf, type TokensFile } from '../tokens.js';
import { isLoopback } from '../urls.js';
import { newToken } from './token.js';

/** Runs the service until it is told to stop. Resolves to the exit code of the process. */
export async function serve(configured: Config): Promise<number> {
  const { config, madeToken } = withToken(configured);
  const container = createContainer(config);
  // Koa is loaded while the storage opens.
  const koa = import('../../adapters/koa/index.js');
  const log = await container.getAsync(services.Logger);
  const file = config.accessTokensFile;
  if (file) process.on('SIGHUP', () => rereadTokens(container, config, file, log));
  // Nobody has to read what is printed.
  process.stdout.on('error', () => {});
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'the service has a defect and ends');
    process.exit(1);
  });

  const plants = await container.getAsync(services.PlantRepository);
  await koa;
  const server = await container.getAsync(services.HttpServer);
  const stopSignals: NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];
  if (!file) stopSignals.push('SIGHUP');
  const stopped = new Promise<NodeJS.Signals>((stop) => onSignals(stopSignals, stop));
  const { host, port, managementHost, managementPort, basePath = '' } = config;
  const management = await container.getAsync(services.ManagementServer);
  try {
    let told = '';
    if (management && managementPort !== 'off') {
      const url = await urlOf(management, 'MANAGEMENT_', managementHost, managementPort);
      told = `Health and metrics: ${url}/healthz, /readyz, /metrics\n`;
    }
    const url = `${await urlOf(server, '', host, port)}${basePath}`;
    const page = config.docs ? `The interface as a page: ${url}/docs\n` : '';
    process.stdout.write(`Plant Store listens on ${url}\n${page}${told}${madeToken ? invitation(url, madeToken) : ''}`);
  } catch (error) {
    await plants.close();
    throw error;
  }

  log.info({ signal: await stopped }, 'stopping');
  const deadline = performance.now() + config.shutdownTimeoutMs;
  const finished = await server.stop(config.shutdownTimeoutMs);
  // The process ends after this, and the timer with it.
  const late = setTimeout(Math.max(0, deadline - performance.now()), false);
  const closed = await Promise.race([plants.close().then(() => true), late]);
  await management?.stop();
  log.info({ finished: finished && closed }, 'stopped');
  return finished && closed ? 0 : 1;
}

/** Has a server listen; the prefix is that of its settings. Resolves to where it does. */
async function urlOf(server: Pick<HttpServer, 'listen'>, prefix: string, host: string, port: number): Promise<string> {
  try {
    const address = await server.listen(port, host);
    return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? `${error.code}` : `${error}`;
    const reason = LISTEN_REASONS[code] ?? code;
    throw new CommandFailure(`cannot listen on ${prefix}HOST=${host} ${prefix}PORT=${port}: ${reason}`);
  }
}

/** https://nodejs.org/api/errors.html#common-system-errors */
const LISTEN_REASONS: Partial<Record<string, string>> = {
  EACCES: 'this user may not use the port; choose one above 1023',
  EADDRINUSE: 'another program listens there; stop it, or choose another port',
  EADDRNOTAVAIL: 'this machine does not have the address',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  EINVAL: 'the address cannot be listened on',
  ENOTFOUND: 'the name of the host is not known',
};

/** Where no token is configured, and only this machine can reach the service, a new one is made for this run. */
function withToken(config: Config): { config: Config; madeToken?: string } {
  const { accessTokens, accessTokensFile, jwtIssuer } = config;
  if ((accessTokens ?? accessTokensFile ?? jwtIssuer) !== undefined) return { config };
  if (!isLoopback(config.host)) {
    throw new InvalidConfig([
      `ACCESS_TOKENS, ACCESS_TOKENS_FILE or JWT_ISSUER must be set where HOST=${JSON.stringify(config.host)} is not a loopback address`,
    ]);
  }
  const { token } = newToken();
  return { config: { ...config, accessTokens: [token] }, madeToken: token };
}

function invitation(url: string, token: string): string {
  return [
    '',
    'No token is configured, so this one was made for this run. Create a plant with it:',
    '',
    `curl -i ${url}/plants -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '{"id":1,"name":"Monstera","tag":"indoor"}'`,
    '',
    '',
  ].join('\n');
}

async function rereadTokens(container: Container, config: Config, file: TokensFile, log: Logger): Promise<void> {
  const verifier = await container.getAsync(services.StaticTokens);
  try {
    const tokens = rereadTokensOf(config, file);
    verifier.replace(tokens);
    log.info({ tokens: tokens.length }, 'tokens read again');
  } catch (error) {
    if (!(error instanceof InvalidTokenList)) throw error;
    log.error({ reason: error.message }, 'ACCESS_TOKENS_FILE is not usable, so the old tokens stay');
  }
}
