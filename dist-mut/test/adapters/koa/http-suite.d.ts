import type { Start } from './support.js';
/** Everything that a client can see of the HTTP interface, on one way of starting the service. */
export declare function httpSuite(name: string, start: Start): void;
//# sourceMappingURL=http-suite.d.ts.map