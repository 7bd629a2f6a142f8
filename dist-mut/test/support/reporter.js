import Mocha, {} from 'mocha';
/** Mocha's spec report to read; with `MOCHA_JSON=FILE` its JSON report too, for programs. */
export default class Reporter extends Mocha.reporters.Spec {
    constructor(runner, options) {
        super(runner, options);
        const output = process.env['MOCHA_JSON'];
        const withOutput = { ...options, reporterOption: { output } };
        if (output)
            new Mocha.reporters.JSON(runner, withOutput);
    }
}
//# sourceMappingURL=reporter.js.map