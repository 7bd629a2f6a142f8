import type { Config } from '../config.js';
import { createContainer } from '../container.js';
import type { ServiceContainer } from '../service-container.js';

/** Lets a command use the parts of the service, without metrics, and closes what it has opened. */
export async function withContainer<T>(
  config: Config,
  options: { readonly readOnly: boolean },
  use: (container: ServiceContainer) => Promise<T>,
): Promise<T> {
  const container = await createContainer(config, { ...options, metrics: false });
  const result = await use(container).catch(async (error) => {
    // Closing may then fail, too.
    await container.close().catch(() => {});
    throw error;
  });
  await container.close();
  return result;
}
