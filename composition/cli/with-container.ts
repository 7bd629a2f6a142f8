import type { Config } from '../config.js';
import { createContainer } from '../container.js';
import type { ServiceContainer } from '../service-container.js';

/** Lets a command use the parts of the service, without metrics, and closes what it has opened. */
export async function withContainer<T>(
  config: Config,
  options: { readonly readOnly: boolean },
  use: (container: ServiceContainer) => Promise<T>,
): Promise<T> {
  const container = await createContainer({ ...config, managementPort: 'off' }, options);
  try {
    return await use(container);
  } finally {
    await container.close();
  }
}
