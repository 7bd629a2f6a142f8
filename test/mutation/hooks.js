// Mocha hooks in the processes of run.js. Without TESTS, writes to COVERAGE which mutants each test reaches and how long
// the test takes; with TESTS, a file with such durations, runs only the tests in it, and exits if one of them hangs.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import fc from 'fast-check';

const { COVERAGE, TESTS } = process.env;
const durations = TESTS ? JSON.parse(readFileSync(TESTS, 'utf8')) : {};
// The same tests kill the same mutants in each run.
fc.configureGlobal({ seed: 1 });

globalThis.__stryker__ ??= {};
const stryker = globalThis.__stryker__;
// Ends most loops that a mutant makes endless.
Object.assign(stryker, { hitCount: 0, hitLimit: 1_000_000 });

const HOOK_TIMEOUT_MS = 20_000;
/** Nanoseconds for which each thread of this process has waited for a processor. */
const waits = new Map();
let deadline = ownTime() + HOOK_TIMEOUT_MS;
if (TESTS) setInterval(() => ownTime() > deadline && process.exit(1), 500).unref();

/** Milliseconds without those in which a thread waits for a processor, because the machine may be busy. */
function ownTime() {
  try {
    for (const thread of readdirSync('/proc/self/task'))
      waits.set(thread, Number(readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ')[1]));
  } catch {
    // Another system than Linux, or a thread has just ended.
  }
  return performance.now() - [...waits.values()].reduce((sum, ns) => sum + ns, 0) / 1e6;
}

const idOf = (test) => `${relative(process.cwd(), test.file)} ${test.fullTitle()}`;

function select(suite) {
  suite.tests = suite.tests.filter((test) => idOf(test) in durations);
  for (const child of suite.suites) select(child);
}

export const mochaHooks = {
  beforeAll() {
    if (TESTS) select(this.test.parent);
  },
  beforeEach() {
    stryker.currentTestId = idOf(this.currentTest);
    this.currentTest.timeout(0);
    deadline = ownTime() + 5_000 + 5 * (durations[stryker.currentTestId] ?? 0);
  },
  afterEach() {
    durations[stryker.currentTestId] = this.currentTest.duration ?? 0;
    stryker.currentTestId = undefined;
    deadline = ownTime() + HOOK_TIMEOUT_MS;
  },
  afterAll() {
    const cpu = process.cpuUsage();
    const cpuSeconds = (cpu.user + cpu.system) / 1_000_000;
    if (COVERAGE) writeFileSync(COVERAGE, JSON.stringify({ ...stryker.mutantCoverage, durations, cpuSeconds }));
  },
};
