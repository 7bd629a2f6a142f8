// A program of its own: sends creates at a fixed rate, whether answers come or not, and measures each from the moment at
// which it was to be sent: a request that had to wait for a connection, or for this program, has waited all the same.
// Prints one line of JSON.
import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { createHistogram, performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '' },
    token: { type: 'string', default: '' },
    'first-id': { type: 'string', default: '' },
    /** Requests a second. */
    rate: { type: 'string', default: '' },
    /** How long the load takes, and how much of its beginning does not count. */
    seconds: { type: 'string', default: '' },
    'warm-up-seconds': { type: 'string', default: '' },
    connections: { type: 'string', default: '' },
  },
});

/** How long this program sleeps where nothing is due, in milliseconds: answers are noticed that much late at most. */
const NAP_MS = 0.1;
/** A turn that comes this long after the one before was held up: the machine had no time for this program. */
const PAUSE_MS = 1;
/** How long after the last request an answer is waited for, in milliseconds. */
const PATIENCE_MS = 10_000;

try {
  // What measures goes before what is measured. Only root may.
  setPriority(constants.priority.PRIORITY_HIGHEST);
} catch {
  // Then it may be held up more, which it says.
}

const port = Number(values.port);
const firstId = Number(values['first-id']);
const gapMs = 1000 / Number(values.rate);
const requests = Math.floor(Number(values.seconds) * Number(values.rate));
const uncounted = Math.floor(Number(values['warm-up-seconds']) * Number(values.rate));
const head = [
  'POST /plants HTTP/1.1',
  `Host: 127.0.0.1:${port}`,
  `Authorization: Bearer ${values.token}`,
  'Content-Type: application/json',
  'Content-Length: ',
].join('\r\n');

/** Latencies in microseconds. */
const latencies = createHistogram();
const idle: Connection[] = [];
const nap = new Int32Array(new SharedArrayBuffer(4));
let sent = 0;
let answers = 0;
let failures = 0;
let broken = 0;

/** One connection: one request at a time. */
class Connection {
  readonly #socket: Socket;
  #request = 0;
  #received = '';

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true).setEncoding('latin1');
    socket.on('data', (text) => this.#receive(`${text}`));
    socket.on('error', () => {});
    socket.on('close', () => {
      broken += 1;
    });
  }

  send(request: number): void {
    this.#request = request;
    const id = firstId + request;
    const body = `{"id":${id},"name":"Monstera ${id}","tag":"indoor"}`;
    this.#socket.write(`${head}${body.length}\r\n\r\n${body}`, 'latin1');
  }

  #receive(text: string): void {
    this.#received += text;
    const bodyStart = this.#received.indexOf('\r\n\r\n') + 4;
    if (bodyStart < 4) return;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(this.#received)?.[1]);
    if (this.#received.length < bodyStart + length) return;
    if (!this.#received.startsWith('HTTP/1.1 200 ')) failures += 1;
    this.#received = '';
    answers += 1;
    if (this.#request >= uncounted) latencies.record(microseconds(performance.now() - dueMs(this.#request)));
    idle.push(this);
  }
}

for (let number = 0; number < Number(values.connections); number++) {
  const socket = connect(port, '127.0.0.1');
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  idle.push(new Connection(socket));
}

/** How long this program was held up altogether while it counted, in milliseconds. */
let pausedMs = 0;
let lastTurnMs = performance.now();

const startMs = performance.now() + 50;
function dueMs(request: number): number {
  return startMs + request * gapMs;
}

/** For a histogram, which has no place for zero. */
function microseconds(ms: number): number {
  return Math.max(1, Math.round(ms * 1000));
}

/** Sends what is due, naps, and lets answers in, until all is answered. */
function turn(): void {
  const sinceMs = performance.now() - lastTurnMs;
  if (sent >= uncounted && sinceMs > PAUSE_MS) pausedMs += sinceMs;
  lastTurnMs += sinceMs;
  while (sent < requests && dueMs(sent) <= performance.now()) {
    const connection = idle.pop();
    if (connection === undefined) break;
    connection.send(sent++);
  }
  const isOver = answers === requests || broken > 0 || performance.now() > dueMs(requests) + PATIENCE_MS;
  if (isOver) {
    report();
    return;
  }
  const untilDueMs = sent < requests ? dueMs(sent) - performance.now() : NAP_MS;
  if (untilDueMs > 0) Atomics.wait(nap, 0, 0, Math.min(NAP_MS, untilDueMs));
  setImmediate(turn);
}

function report(): void {
  const line = {
    answers,
    failures,
    broken: broken + requests - answers,
    p50Us: latencies.percentile(50),
    p99Us: latencies.percentile(99),
    p999Us: latencies.percentile(99.9),
    pausedPercent: (100 * pausedMs) / (gapMs * (requests - uncounted)),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`, () => process.exit());
}

turn();
