// Mocha hooks in the processes of run.js. With COVERAGE, writes the mutants that the tests reach to this file.
import { writeFileSync } from 'node:fs';
import fc from 'fast-check';

// The same tests kill the same mutants in each run.
fc.configureGlobal({ seed: 1 });

globalThis.__stryker__ ??= {};
const stryker = globalThis.__stryker__;
// Ends most loops that a mutant makes endless.
Object.assign(stryker, { hitCount: 0, hitLimit: 1_000_000 });

export const mochaHooks = {
  afterAll() {
    const reached = Object.keys(stryker.mutantCoverage?.static ?? {});
    if (process.env.COVERAGE) writeFileSync(process.env.COVERAGE, JSON.stringify(reached));
  },
};
