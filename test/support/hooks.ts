import { expect } from 'chai';
import type { RootHookObject } from 'mocha';
import { type Program, runningPrograms } from './executable.js';
import { leaks } from './secret-leaks.js';

async function endPrograms(isEnding: (program: Program) => boolean): Promise<void> {
  const ending = [...runningPrograms].filter(isEnding);
  await Promise.all(ending.map((program) => program.killGroup('SIGKILL').exited()));
}

// Mocha drops the rejection of a promise that no test awaits.
process.on('unhandledRejection', (reason) => {
  throw reason;
});

/** Kills the programs of each test, and fails the run if any test leaked a secret. `.mocharc.json` registers these hooks. */
export const mochaHooks: RootHookObject = {
  beforeEach() {
    for (const program of runningPrograms) program.isLasting = true;
  },
  afterEach: () => endPrograms(({ isLasting }) => !isLasting),
  afterAll: async () => {
    await endPrograms(() => true);
    expect(leaks.splice(0)).to.deep.equal([]);
  },
};
