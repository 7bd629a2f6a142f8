import { type Socket } from 'node:net';
/** One answer as it came over the wire. */
export interface RawAnswer {
    readonly status: number;
    /** By lower-case name. */
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    /** The body as JSON. */
    json(): unknown;
}
/** Every answer that a {@link RawClient} has read, beside the first line that this client sent. */
export declare const answersSeen: {
    readonly firstLine: string;
    readonly answer: RawAnswer;
}[];
/** A client that sends exactly the bytes it is told to, and reads answers one by one. */
export declare class RawClient {
    #private;
    readonly socket: Socket;
    private constructor();
    static connect(port: number): Promise<RawClient>;
    send(bytes: string | Uint8Array): this;
    /**
     * The next answer, `100 Continue` included; `undefined` where the connection ended before one.
     *
     * @param method of the request that it belongs to: the answer to HEAD has no body, whatever its headers say
     */
    answer(method?: 'HEAD'): Promise<RawAnswer | undefined>;
    /** Every answer up to the end of the connection. */
    answersToEnd(): Promise<RawAnswer[]>;
    /** Resolves when the other side has closed the connection, in good order or not. */
    ended(): Promise<void>;
    close(): void;
}
/** Sends bytes over a connection of its own and returns the first answer. */
export declare function exchange(port: number, bytes: string | Uint8Array): Promise<RawAnswer | undefined>;
/** The text of a request; a body gets its Content-Length unless the headers say how it is framed. */
export declare function request(startLine: string, headers?: Readonly<Record<string, string>>, body?: string | Uint8Array): Buffer;
//# sourceMappingURL=raw-http.d.ts.map