import { setTimeout } from 'node:timers/promises';
/** How long to wait before what was busy is tried again, in milliseconds. */
const PAUSE_MS = 10;
/** Does `work` again as long as others are in its way, up to `timeoutMs` milliseconds. */
export async function whileBusy(engine, timeoutMs, work) {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
        try {
            return await work();
        }
        catch (error) {
            if (engine.diagnose(error) !== 'busy' || performance.now() > deadline)
                throw error;
            await setTimeout(PAUSE_MS);
        }
    }
}
//# sourceMappingURL=busy.js.map