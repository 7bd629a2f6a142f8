import { finished } from 'node:stream/promises';
import { RawClient, request } from './raw-http.js';

/** Bytes of a hostile path or header: with the rest of the head, just below Node's limit of 16 KiB. */
const SIZE = 15_500;
/** Requests per connection, as many as the server accepts at once. */
const PIPELINED = 16;
const RUNS = 7;
/** Between the ratios of a linear cost, which reach 6, and those of a quadratic one, from 30. */
const MAX_RATIO = 15;

/** Repeats `unit` up to the size of a hostile path or header. */
export function hostile(unit: string, prefix = ''): string {
  return `${prefix}${unit.repeat(SIZE / unit.length)}x`;
}

/** Returns which of these requests take a server in this process far more time than a 404 of the same size. */
export async function findSlow(port: number, requests: ReadonlyMap<string, Uint8Array>): Promise<string[]> {
  const medians = new Map<string, number>();
  for (const [what, bytes] of requests) medians.set(what, (await measure(port, bytes))[Math.trunc(RUNS / 2)] ?? 0);
  // Last, because the first requests are slow.
  const [time404 = 0] = await measure(port, request('GET /nowhere', { X: hostile('x') }));
  return [...medians.keys()].filter((what) => Number(medians.get(what)) > MAX_RATIO * time404);
}

/** Measures a connection with several copies of a request, several times. Returns sorted microseconds. */
async function measure(port: number, bytes: Uint8Array): Promise<number[]> {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const start = process.cpuUsage();
    const { socket } = (await RawClient.connect(port)).send(Buffer.concat(Array(PIPELINED).fill(bytes)));
    await finished(socket.end().resume());
    const { user, system } = process.cpuUsage(start);
    times.push(user + system);
  }
  return times.sort((a, b) => a - b);
}
