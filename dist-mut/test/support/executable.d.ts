import { type ChildProcess } from 'node:child_process';
/** The compiled executable. */
export declare const CLI: string;
/** Ends, with each test, the programs that it started and did not end, also where it fails. Call it inside `describe`. */
export declare function endProgramsAfterEach(): void;
/** A run of a program, from outside. It leads a process group of its own, as a shell's jobs do. */
export declare class Program {
    #private;
    readonly process: ChildProcess;
    stdout: string;
    stderr: string;
    /**
     * @param folder the working directory
     * @param environment all of the environment but PATH, NODE_V8_COVERAGE and the like
     */
    constructor(folder: string, command: readonly [string, ...string[]], environment: Readonly<Record<string, string>>);
    /** Waits for a text on standard output or error; fails where the process ends before it comes. */
    says(pattern: RegExp): Promise<RegExpExecArray>;
    /** The port that it listens on, once it does. */
    port(): Promise<number>;
    /** The exit code, or the signal that ended it. */
    exited(): Promise<number | NodeJS.Signals>;
    kill(signal: NodeJS.Signals): this;
    /** Signals the program and all that it started, as a terminal does at Ctrl-C. */
    killGroup(signal: NodeJS.Signals): this;
    /** Types on its standard input. */
    type(text: string): this;
}
/** A run of the executable, from outside. */
export declare class Executable extends Program {
    /**
     * @param folder the working directory
     * @param environment all of the environment but PATH, NODE_V8_COVERAGE and the like
     * @param command what runs the executable, such as `strace …`; Node by itself by default
     */
    constructor(folder: string, args?: readonly string[], environment?: Readonly<Record<string, string>>, command?: readonly string[]);
}
//# sourceMappingURL=executable.d.ts.map