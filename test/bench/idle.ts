import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createRequest } from '../support/client.js';
import { inRepository } from '../support/paths.js';
import { RawClient } from '../support/raw-http.js';
import type { Figures } from './compare.js';
import { type Contender, startServer, TOKEN } from './programs.js';

/** Measures how much heap 600 connections that created a plant each keep, beyond 300 that did so before. */
export async function measureIdle(contender: Contender): Promise<Figures> {
  const heap = ['--expose-gc', '--import', inRepository('test/bench/peers/heap.js')];
  const { program, port, folder, kill } = await startServer({ ...contender, args: [...heap, ...contender.args] });
  const clients: RawClient[] = [];
  const heapBytesWith = async (connections: number) => {
    while (clients.length < connections) {
      const client = await RawClient.connect(port);
      // Above the ids with which a program is started.
      const plant = { id: BigInt(1_000_000 + clients.push(client)), name: 'Monstera' };
      await client.send(createRequest(plant, { Authorization: `Bearer ${TOKEN}` })).readResponse();
    }
    await setTimeout(500);
    const file = join(folder, 'heap');
    rmSync(file, { force: true });
    program.process.kill('SIGUSR2');
    while (!existsSync(file)) await setTimeout(5);
    return Number(readFileSync(file, 'utf8'));
  };
  const before = await heapBytesWith(300);
  const bytes = (await heapBytesWith(900)) - before;
  if (clients.some(({ socket }) => socket.closed)) throw new Error(`${contender.name} closed idle connections`);
  for (const { socket } of clients) socket.destroy();
  await kill();
  return { 'KiB of heap per idle connection': bytes / 600 / 1024 };
}
