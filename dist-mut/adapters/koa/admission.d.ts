/** What the service may hold at once. */
export interface AdmissionLimits {
    /** The most creates under way. */
    readonly maxPending: number;
    /** The most bytes that the bodies of these may occupy, inflated, counted from the first byte on. */
    readonly maxPendingBytes: number;
}
/** Counts the creates under way and the bytes of their bodies, and lets no more in than the limits allow. */
export declare class Admission {
    #private;
    constructor(limits: AdmissionLimits);
    /**
     * Takes a place for one create.
     *
     * @throws {Refusal} 50302 when there is none, 50303 after {@link stop}
     */
    enter(): Place;
    /** Lets nobody in any more; who is in stays until it leaves. */
    stop(): void;
}
/** One create under way. */
export interface Place {
    /** Counts more bytes of its body; `false` when they would be too many. */
    hold(bytes: number): boolean;
    /** Gives the place and its bytes back; the second time it does nothing. */
    leave(): void;
}
//# sourceMappingURL=admission.d.ts.map