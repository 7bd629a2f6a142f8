import type { Socket } from 'node:net';
/**
 * Ends a connection to a server on which nothing was sent nor heard for longer than a statement may take. Where packets
 * are lost, the statement that waits for them, and its place in the pool, would otherwise be held until TCP gives up,
 * which takes a quarter of an hour. One that is only idle is ended too, and made again when it is needed.
 */
export declare function endWhenSilent(socket: Socket, timeoutMs: number): void;
//# sourceMappingURL=silence.d.ts.map