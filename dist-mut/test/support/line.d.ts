/** A line to a server, in which all that can happen to a line happens when it is told to. */
export declare class Line {
    #private;
    private constructor();
    /** A line to the server of a URL. {@link end} it in any case. */
    static to(url: string, defaultPort: number): Promise<Line>;
    /** The URL of a database of the server that leads through this line. */
    urlOf(url: string): string;
    /** Resets every connection; new ones are let through. */
    reset(): void;
    /** Closes every connection, and refuses new ones. */
    refuse(): Promise<void>;
    /** Holds back what is sent, as where packets are lost and sent again, until {@link mend}. */
    stall(): void;
    /** Loses every connection, and those that are made until {@link mend}, without telling either side. */
    lose(): void;
    /** Lets everything reach the server, and loses every answer from now on, with the connection that it came on. */
    loseAnswers(): void;
    /** Has the server say nothing more on any connection; what the client sends still arrives. */
    halfClose(): void;
    /** Has everything take so long from one side to the other, in milliseconds. */
    delay(delayMs: number): void;
    /** Lets everything through again. What was lost stays lost. */
    mend(): Promise<void>;
    end(): Promise<void>;
}
//# sourceMappingURL=line.d.ts.map