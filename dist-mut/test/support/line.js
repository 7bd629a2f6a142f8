import { once } from 'node:events';
import { connect, createServer } from 'node:net';
/** A line to a server, in which all that can happen to a line happens when it is told to. */
export class Line {
    #server;
    #connections = new Set();
    #listener;
    #port = 0;
    #delayMs = 0;
    #state = 'open';
    constructor(url, defaultPort) {
        const server = new URL(url);
        this.#server = { url: server, port: Number(server.port || defaultPort) };
        this.#listener = this.#listen(0);
    }
    /** A line to the server of a URL. {@link end} it in any case. */
    static async to(url, defaultPort) {
        const line = new Line(url, defaultPort);
        await once(line.#listener, 'listening');
        const address = line.#listener.address();
        if (typeof address === 'object' && address !== null)
            line.#port = address.port;
        return line;
    }
    /** The URL of a database of the server that leads through this line. */
    urlOf(url) {
        return Object.assign(new URL(url), { host: `127.0.0.1:${this.#port}` }).href;
    }
    /** Resets every connection; new ones are let through. */
    reset() {
        for (const { client, server } of this.#connections) {
            client.resetAndDestroy();
            server.destroy();
        }
    }
    /** Closes every connection, and refuses new ones. */
    async refuse() {
        const closed = this.#listener.listening && once(this.#listener, 'close');
        this.#listener.close();
        this.reset();
        await closed;
    }
    /** Holds back what is sent, as where packets are lost and sent again, until {@link mend}. */
    stall() {
        this.#state = 'stalled';
        for (const { client, server } of this.#connections)
            for (const end of [client, server])
                end.pause();
    }
    /** Loses every connection, and those that are made until {@link mend}, without telling either side. */
    lose() {
        this.#state = 'lost';
        for (const connection of this.#connections)
            connection.isLost = true;
    }
    /** Lets everything reach the server, and loses every answer from now on, with the connection that it came on. */
    loseAnswers() {
        this.#state = 'deaf';
    }
    /** Has the server say nothing more on any connection; what the client sends still arrives. */
    halfClose() {
        for (const { client } of this.#connections)
            client.end();
    }
    /** Has everything take so long from one side to the other, in milliseconds. */
    delay(delayMs) {
        this.#delayMs = delayMs;
    }
    /** Lets everything through again. What was lost stays lost. */
    async mend() {
        this.#state = 'open';
        this.#delayMs = 0;
        for (const { client, server } of this.#connections)
            for (const end of [client, server])
                end.resume();
        if (this.#listener.listening)
            return;
        this.#listener = this.#listen(this.#port);
        await once(this.#listener, 'listening');
    }
    end() {
        return this.refuse();
    }
    #listen(port) {
        return createServer({ allowHalfOpen: true }, (client) => this.#join(client)).listen(port, '127.0.0.1');
    }
    #join(client) {
        const server = connect({ port: this.#server.port, host: this.#server.url.hostname, allowHalfOpen: true });
        const connection = { client, server, isLost: this.#state === 'lost' };
        this.#connections.add(connection);
        for (const [from, to] of [
            [client, server],
            [server, client],
        ]) {
            from.on('error', () => { });
            from.on('data', (chunk) => {
                if (from === server && this.#state === 'deaf')
                    connection.isLost = true;
                if (!connection.isLost)
                    this.#later(() => to.writable && to.write(chunk));
            });
            from.on('end', () => {
                if (!connection.isLost)
                    this.#later(() => to.end());
            });
            from.on('close', () => {
                if (!connection.isLost)
                    this.#later(() => to.destroy());
                if (client.destroyed && server.destroyed)
                    this.#connections.delete(connection);
            });
            if (this.#state === 'stalled')
                from.pause();
        }
    }
    #later(act) {
        if (this.#delayMs === 0)
            act();
        else
            setTimeout(act, this.#delayMs);
    }
}
//# sourceMappingURL=line.js.map