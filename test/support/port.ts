import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Returns the port on which a TCP server listens. */
export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('not listening on a TCP port');
  return address.port;
}

/** Returns a port on which no program listens, and which the system does not assign to another program. */
export async function freePort(): Promise<number> {
  // Below those that the system assigns to connections, so that a port stays free while its owner restarts.
  const port = randomInt(10_000, 32_000);
  const server = createServer().listen(port, '127.0.0.1');
  const isFree = await once(server, 'listening').catch(() => undefined);
  if (isFree === undefined) return freePort();
  await once(server.close(), 'close');
  return port;
}
