import Mocha, { type MochaOptions, type Runner } from 'mocha';
/** Mocha's spec report to read; with `MOCHA_JSON=FILE` its JSON report too, for programs. */
export default class Reporter extends Mocha.reporters.Spec {
    constructor(runner: Runner, options: MochaOptions);
}
//# sourceMappingURL=reporter.d.ts.map