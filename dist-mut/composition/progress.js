import { SingleBar } from 'cli-progress';
/** Nobody watches. */
export const noProgress = { update() { }, clear() { }, stop() { } };
/** A bar on standard error where that is a terminal, else nothing. The cursor stays, also where a signal ends the process. */
export function progressBar(unit, total) {
    if (!process.stderr.isTTY)
        return noProgress;
    const format = total === undefined ? `{value} ${unit}` : `{bar} {percentage}% | {value} of {total} ${unit} | {eta_formatted}`;
    const bar = new SingleBar({ format, stream: process.stderr });
    bar.start(total ?? 0, 0);
    return {
        update: (value) => bar.update(value),
        clear: () => {
            process.stderr.cursorTo(0);
            process.stderr.clearLine(1);
        },
        stop: () => bar.stop(),
    };
}
//# sourceMappingURL=progress.js.map