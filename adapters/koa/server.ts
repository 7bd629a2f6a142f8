import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type Koa from 'koa';
import { rejections, statusOf } from '../wire/index.js';
import type { Admission } from './admission.js';
import { type AppOptions, type Log, requestIdOf } from './app.js';
import { failBody } from './body.js';
import { Refusal } from './refusal.js';

/** How long clients are waited for, in milliseconds. */
export interface ServerTimeouts {
  /** How long the headers of a request may take to arrive. */
  readonly headersTimeoutMs: number;
  /** How long a whole request may take to arrive. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection is kept, and a client that does not read its answer is waited for. */
  readonly keepAliveTimeoutMs: number;
}

/** How large all headers of a request may be together, in bytes. */
const HEADERS_BYTES_MAX = 16 * 1024;
/** How often Node looks for requests that are late, in milliseconds. */
const CHECKING_INTERVAL_MS = 500;
/** How long a connection stays open after an answer that Node has no request for, in milliseconds. */
const LINGER_MS = 1000;
/** How many requests of one connection may wait for their answers; behind the last one it is closed. */
const UNANSWERED_MAX = 100;
/** How many requests a client may send behind the last one that is answered, before the connection is cut off. */
const IGNORED_MAX = 100;
/** A connection takes one turn of the event loop to be accepted and another to be read. */
const QUIET_TURNS = 3;
/** How many turns a stop waits for quiet at the most. */
const STOPPING_TURNS_MAX = 1000;

/** What is known of one connection. */
interface Connection {
  /** What answers the requests that came in and are not answered yet, in their order. */
  readonly unanswered: Set<ServerResponse>;
  /** The request that came in last, answered or not. */
  latest?: IncomingMessage;
  /** Whether nothing that comes in is served any more: it can no longer be told into requests, or an answer said so. */
  closing: boolean;
  /** How many requests came in that are not served any more. */
  ignored: number;
}

/**
 * The Node server around a Koa app: it answers what Node would answer without a body, keeps the order of pipelined
 * requests, bounds every wait for a client, and stops without dropping anybody.
 */
export class HttpServer {
  readonly #server: Server;
  readonly #handle: (req: IncomingMessage, res: ServerResponse) => Promise<void>;
  readonly #admission: Admission;
  readonly #timeouts: ServerTimeouts;
  readonly #log: Log;
  readonly #onAnswered: AppOptions['onAnswered'];
  readonly #connections = new Map<Duplex, Connection>();
  /** Connections and requests so far. */
  #arrivals = 0;
  #stopping = false;

  constructor(
    app: Koa,
    admission: Admission,
    timeouts: ServerTimeouts,
    { log, onAnswered }: Pick<AppOptions, 'log' | 'onAnswered'>,
  ) {
    this.#handle = app.callback();
    this.#admission = admission;
    this.#timeouts = timeouts;
    this.#log = log;
    this.#onAnswered = onAnswered;
    this.#server = createServer({
      headersTimeout: timeouts.headersTimeoutMs,
      requestTimeout: timeouts.requestTimeoutMs,
      keepAliveTimeout: timeouts.keepAliveTimeoutMs,
      connectionsCheckingInterval: CHECKING_INTERVAL_MS,
      maxHeaderSize: HEADERS_BYTES_MAX,
      requireHostHeader: false,
    });
    // A client may close its side once it has sent its request; it still gets its answer. Node has no public name for it.
    Object.assign(this.#server, { httpAllowHalfOpen: true });
    // The size of all headers is limited; dropping the last of many small ones without a word would be no help.
    this.#server.maxHeadersCount = 0;
    // `close` calls it, and Node takes a connection for idle whose answers are not written out yet; `stop` sees to these.
    this.#server.closeIdleConnections = () => {};
    const serve = (req: IncomingMessage, res: ServerResponse) => this.#serve(req, res);
    this.#server.on('request', serve).on('checkContinue', serve).on('checkExpectation', serve);
    this.#server.on('connection', (socket) => this.#track(socket));
    this.#server.on('connect', (req, socket) => this.#serveConnect(req, socket));
    this.#server.on('clientError', (error, socket) => this.#answerBroken(error, socket));
    this.#server.on('timeout', (socket) => {
      const working = [...(this.#connections.get(socket)?.unanswered ?? [])].some((res) => !res.writableEnded);
      if (!working) socket.destroy();
    });
  }

  /** Whether it was told to stop. */
  get isStopping(): boolean {
    return this.#stopping;
  }

  /** Listens; rejects with the operating system's error where it cannot. */
  async listen(port: number, host: string): Promise<AddressInfo> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new TypeError('the server listens on no TCP port');
    return address;
  }

  /**
   * Stops listening, closes idle connections, finishes what is under way.
   *
   * @param timeoutMs how long to wait before what is left is cut off
   * @returns whether nothing had to be cut off
   */
  async stop(timeoutMs: number): Promise<boolean> {
    this.#stopping = true;
    this.#admission.stop();
    this.#closeAfterLastAnswers();
    // Clients that are already here, though perhaps not yet read or even accepted, are refused and not dropped.
    await this.#quiet();
    const closed = new Promise<boolean>((resolve) => this.#server.close(() => resolve(true)));
    await this.#quiet();
    for (const [socket, { unanswered }] of this.#connections) if (unanswered.size === 0) socket.destroy();
    let timer: NodeJS.Timeout | undefined;
    const cutOff = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => {
        for (const socket of this.#connections.keys()) socket.destroy();
        resolve(false);
      }, timeoutMs);
    });
    return Promise.race([closed, cutOff]).finally(() => clearTimeout(timer));
  }

  #closeAfterLastAnswers(): void {
    for (const { unanswered } of this.#connections.values()) {
      const last = [...unanswered].at(-1);
      if (last && !last.headersSent) last.setHeader('Connection', 'close');
    }
  }

  /** Resolves when some turns of the event loop in a row brought neither a connection nor a request. */
  async #quiet(): Promise<void> {
    for (let turns = 0, quietTurns = 0; turns < STOPPING_TURNS_MAX && quietTurns < QUIET_TURNS; turns++) {
      const arrivals = this.#arrivals;
      await nextTurn();
      quietTurns = arrivals === this.#arrivals ? quietTurns + 1 : 0;
    }
  }

  #track(socket: Duplex): void {
    this.#arrivals++;
    this.#connections.set(socket, { unanswered: new Set(), closing: false, ignored: 0 });
    socket.once('close', () => this.#connections.delete(socket));
  }

  #serve(req: IncomingMessage, res: ServerResponse): void {
    const connection = this.#connections.get(req.socket);
    if (connection === undefined) return;
    // After an answer that closes the connection nothing more is answered, so nothing more is done either.
    if (connection.closing || [...connection.unanswered].some(saysClose)) {
      // Node keeps every such request until the client has read the answers before it; a whole packet of them is a flood.
      if (++connection.ignored > IGNORED_MAX) req.socket.destroy();
      return;
    }

    this.#arrivals++;
    const expecting = [...connection.unanswered].findLast(({ req }) => req.headers.expect !== undefined);
    connection.unanswered.add(res);
    connection.latest = req;
    res.once('close', () => {
      connection.unanswered.delete(res);
      connection.closing ||= saysClose(res);
      if (this.#stopping && connection.unanswered.size === 0) req.socket.destroySoon();
    });
    // What comes behind an Upgrade that was not taken up, Node drops as far as it is in the same packet.
    const isLast = req.headers.upgrade !== undefined || connection.unanswered.size === UNANSWERED_MAX;
    if (this.#stopping || isLast) res.setHeader('Connection', 'close');
    const handle = () => {
      this.#handle(req, res).then(() => {
        if (req.socket.writableLength > 0) req.socket.setTimeout(this.#timeouts.keepAliveTimeoutMs);
      });
    };
    if (!expecting) {
      handle();
      return;
    }
    // As many may wait for it as may be unanswered; Node warns of eleven.
    expecting.setMaxListeners(0);
    // Where an expectation is refused Node closes the connection, also where the body came without being asked for.
    expecting.once('close', () => saysClose(expecting) || isBehindClose(connection, res) || handle());
  }

  /** CONNECT is a method like any other here; Node hands it over with the bare socket. */
  #serveConnect(req: IncomingMessage, socket: Duplex): void {
    // Node has taken its own listeners away.
    socket.on('error', () => socket.destroy());
    req.socket.setTimeout(this.#timeouts.keepAliveTimeoutMs, () => socket.destroy());
    this.#afterAnswers(socket, () => {
      // Node may have handed the socket to a request that is not served any more.
      if (this.#connections.get(socket)?.closing !== false) return;
      const res = new ServerResponse(req);
      res.assignSocket(req.socket);
      res.setHeader('Connection', 'close');
      res.once('finish', () => linger(socket));
      // It has no body, but Node stopped parsing before it could say so.
      req.complete = true;
      this.#serve(req, res);
    });
  }

  /** Bytes that are no request, or a request that is late: told to the client after what came before is answered. */
  #answerBroken(error: Error, socket: Duplex): void {
    const connection = this.#connections.get(socket);
    const refusal = refusalOfClientError(error);
    if (connection === undefined || refusal === undefined) {
      socket.destroy();
      return;
    }
    if (connection.closing) return;
    connection.closing = true;
    const { latest, unanswered } = connection;
    if (latest && !latest.complete) {
      // The rest of its body never comes. Where it was answered already there is nothing more to say.
      if (unanswered.size > 0) failBody(latest, refusal);
      else socket.destroy();
      return;
    }
    this.#afterAnswers(socket, () => {
      if (!socket.writable) return;
      const requestId = requestIdOf(undefined);
      socket.write(rawAnswer(refusal, requestId));
      linger(socket);
      const { error, message } = refusal.rejection;
      const status = statusOf(refusal.rejection);
      this.#log.info({ requestId, status, error, reason: message }, 'request');
      this.#onAnswered?.({ status, error });
    });
  }

  #afterAnswers(socket: Duplex, act: () => void): void {
    const last = [...(this.#connections.get(socket)?.unanswered ?? [])].at(-1);
    if (last) last.once('close', act);
    else act();
  }
}

/** Whether one of the answers before this one closes the connection. */
function isBehindClose({ unanswered }: Connection, res: ServerResponse): boolean {
  const all = [...unanswered];
  return all.slice(0, all.indexOf(res)).some(saysClose);
}

function saysClose(res: ServerResponse): boolean {
  return res.getHeader('Connection') === 'close' || !res.shouldKeepAlive;
}

function refusalOfClientError(error: Error): Refusal | undefined {
  const code = 'code' in error ? `${error.code}` : '';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Refusal(rejections.requestTimeout);
  if (code === 'HPE_HEADER_OVERFLOW') return new Refusal(rejections.headersTooLarge);
  if (code.startsWith('HPE_')) return new Refusal(rejections.malformedHttp);
  return undefined;
}

function rawAnswer({ rejection }: Refusal, requestId: string): string {
  const body = JSON.stringify(rejection);
  const status = statusOf(rejection);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `X-Request-Id: ${requestId}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Date: ${new Date().toUTCString()}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

/** Closes our side, and the whole connection a little later, so that the client can read its answer first. */
function linger(socket: Duplex): void {
  socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}
