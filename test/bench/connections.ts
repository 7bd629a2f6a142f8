import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { inRepository } from '../support/paths.js';
import type { Figures } from './compare.js';
import { type Contender, startServer, TOKEN } from './programs.js';

/** Above the ids with which a program is started. */
const FIRST_ID = 1e6;

/** Opens connections that each send the text for their position, and ignores their errors. */
function openAll(port: number, count: number, toText: (position: number) => string): Socket[] {
  return Array.from({ length: count }, (_, position) => {
    const socket = connect(port, '127.0.0.1').resume();
    socket.on('error', () => {}).write(toText(position));
    return socket;
  });
}

/** Returns a create of a plant. */
function toRequest(id: number): string {
  const body = `{"id":${id},"name":"Monstera"}`;
  const head = `POST /plants HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json`;
  return `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Measures how much heap 600 connections that created a plant each keep, beyond 300 that did so before. */
export async function measureIdle(contender: Contender): Promise<Figures> {
  const heap = ['--expose-gc', '--import', inRepository('test/bench/peers/heap.js')];
  const { program, port, folder, kill } = await startServer({ ...contender, args: [...heap, ...contender.args] });
  const sockets: Socket[] = [];
  const heapBytesWith = async (count: number) => {
    const opened = openAll(port, count, (position) => toRequest(FIRST_ID + sockets.length + position));
    sockets.push(...opened);
    await Promise.all(opened.map((socket) => once(socket, 'data')));
    await setTimeout(500);
    const file = join(folder, 'heap');
    rmSync(file, { force: true });
    program.process.kill('SIGUSR2');
    while (!existsSync(file)) await setTimeout(5);
    return Number(readFileSync(file, 'utf8'));
  };
  const before = await heapBytesWith(300);
  const figures = { 'KiB of heap per idle connection': ((await heapBytesWith(600)) - before) / 600 / 1024 };
  if (sockets.some((socket) => socket.closed)) throw new Error(`${contender.name} closed idle connections`);
  for (const socket of sockets) socket.destroy();
  await kill();
  return figures;
}

/**
 * Measures the peak memory while 100 or 500 connections without a credential send 199 requests with 14.5 kB of headers
 * each; infinite if the program does not survive.
 */
export async function measureFloods(contender: Contender): Promise<Figures> {
  const request = `POST /plants HTTP/1.1\r\nHost: bench\r\nContent-Length: 0\r\nX: ${'x'.repeat(14_500)}\r\n\r\n`;
  const figures: Record<string, number> = {};
  for (const count of [100, 500]) {
    const { program, port, kill } = await startServer(contender);
    const sockets = openAll(port, count, () => request.repeat(199));
    await Promise.race([Promise.all(sockets.map((socket) => once(socket, 'close'))), setTimeout(10_000)]);
    figures[`${count} connections, MiB`] = program.isRunning ? program.memoryMib('VmHWM') : Number.POSITIVE_INFINITY;
    for (const socket of sockets) socket.destroy();
    await kill();
  }
  return figures;
}
