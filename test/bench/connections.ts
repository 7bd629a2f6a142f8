import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Figures } from './compare.js';
import { type Contender, startServer } from './programs.js';

/** Opens connections that send `bytes`, and ignores their errors. */
function openAll(port: number, count: number, bytes: string): Socket[] {
  return Array.from({ length: count }, () => {
    const socket = connect(port, '127.0.0.1').resume();
    socket.on('error', () => {}).write(bytes);
    return socket;
  });
}

/** Measures how much memory 1,000 connections that had one response each add to that with 500. */
export async function measureIdle(contender: Contender): Promise<Figures> {
  const { program, port, kill } = await startServer(contender);
  const sockets: Socket[] = [];
  const memoryMibWith = async (count: number) => {
    const opened = openAll(port, count, 'POST /plants HTTP/1.1\r\nHost: bench\r\nContent-Length: 0\r\n\r\n');
    sockets.push(...opened);
    await Promise.all(opened.map((socket) => once(socket, 'data')));
    await setTimeout(1000);
    return program.memoryMib();
  };
  const before = await memoryMibWith(500);
  const figures = { 'MiB per 1,000 idle connections': (await memoryMibWith(1000)) - before };
  if (sockets.some((socket) => socket.closed)) throw new Error(`${contender.name} closed idle connections`);
  for (const socket of sockets) socket.destroy();
  await kill();
  return figures;
}

/**
 * Measures the peak memory while 100 or 500 connections without a credential send 199 requests with 14.5 kB of headers
 * each. It is NaN if the program does not survive.
 */
export async function measureFloods(contender: Contender): Promise<Figures> {
  const request = `POST /plants HTTP/1.1\r\nHost: bench\r\nContent-Length: 0\r\nX: ${'x'.repeat(14_500)}\r\n\r\n`;
  const figures: Record<string, number> = {};
  for (const count of [100, 500]) {
    const { program, port, kill } = await startServer(contender);
    const sockets = openAll(port, count, request.repeat(199));
    await Promise.race([Promise.all(sockets.map((socket) => once(socket, 'close'))), setTimeout(10_000)]);
    figures[`${count} connections, MiB`] = program.isRunning ? program.memoryMib('VmHWM') : Number.NaN;
    for (const socket of sockets) socket.destroy();
    await kill();
  }
  return figures;
}
