import { rejections } from '../wire/index.js';
import { Refusal } from './refusal.js';
/** Counts the creates under way and the bytes of their bodies, and lets no more in than the limits allow. */
export class Admission {
    #limits;
    #pending = 0;
    #pendingBytes = 0;
    #stopping = false;
    constructor(limits) {
        this.#limits = limits;
    }
    /**
     * Takes a place for one create.
     *
     * @throws {Refusal} 50302 when there is none, 50303 after {@link stop}
     */
    enter() {
        if (this.#stopping)
            throw new Refusal(rejections.stopping);
        if (this.#pending >= this.#limits.maxPending)
            throw new Refusal(rejections.overloaded);
        this.#pending++;
        let held = 0;
        let left = false;
        return {
            hold: (bytes) => {
                if (this.#pendingBytes + bytes > this.#limits.maxPendingBytes)
                    return false;
                held += bytes;
                this.#pendingBytes += bytes;
                return true;
            },
            leave: () => {
                if (left)
                    return;
                left = true;
                this.#pending--;
                this.#pendingBytes -= held;
            },
        };
    }
    /** Lets nobody in any more; who is in stays until it leaves. */
    stop() {
        this.#stopping = true;
    }
}
//# sourceMappingURL=admission.js.map