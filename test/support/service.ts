import type { Container } from 'inversify';
import { readConfig } from '../../composition/config.js';
import { createContainer } from '../../composition/container.js';
import { services } from '../../composition/services.js';
import type { PlantRepository } from '../../core/index.js';

/** The access token of the services that tests start. */
export const TOKEN = 'token-of-the-tests';

const LISTENERS = { PORT: '0', MANAGEMENT_PORT: 'off' };
const DEFAULTS = { ...LISTENERS, DATABASE_URL: 'memory:', ACCESS_TOKENS: TOKEN, LOG_LEVEL: 'silent' };

/** A service in this process, wired by the real container, on a free port. */
export interface TestService {
  readonly port: number;
  readonly repository: PlantRepository;
  stop(): Promise<void>;
}

/**
 * Starts the service, by default on the memory repository, with {@link TOKEN} and without logs.
 *
 * @param rebind replaces bindings of the container before it is used
 */
export async function startService(
  environment: Readonly<Record<string, string>> = {},
  rebind: (container: Container) => void = () => {},
): Promise<TestService> {
  const config = readConfig({ ...DEFAULTS, ...environment });
  const container = createContainer(config);
  rebind(container);
  const server = await container.getAsync(services.HttpServer);
  const repository = await container.getAsync(services.PlantRepository);
  const storage = await container.getAsync(services.Storage);
  const { port } = await server.listen(config.port, config.host);
  const stop = async () => {
    await server.stop(config.shutdownTimeoutMs);
    await storage.close();
  };
  return { port, repository, stop };
}
