import type { Container } from 'inversify';
import type { Config } from '../config.js';
import { closeContainer, createContainer } from '../container.js';

/** Lets a command use the parts of the service, and closes what it has opened. */
export async function withContainer<T>(config: Config, use: (container: Container) => Promise<T>): Promise<T> {
  const container = await createContainer(config);
  try {
    return await use(container);
  } finally {
    await closeContainer(container);
  }
}
