/** How much longer than the server itself it is listened to, so that one that is there can say why, in milliseconds. */
const MARGIN_MS = 1000;
/**
 * Ends a connection to a server on which nothing was sent nor heard for longer than a statement may take. Where packets
 * are lost, the statement that waits for them, and its place in the pool, would otherwise be held until TCP gives up,
 * which takes a quarter of an hour. One that is only idle is ended too, and made again when it is needed.
 */
export function endWhenSilent(socket, timeoutMs) {
    socket.setTimeout(timeoutMs + MARGIN_MS, () => {
        socket.destroy(Object.assign(new Error('the server is silent'), { code: 'ETIMEDOUT' }));
    });
}
//# sourceMappingURL=silence.js.map