/** The part of mocha that the core tests use, for runtimes without mocha. `runtimes.test.ts` bundles it. */

const cases = [];
let suite = { path: [], hooks: [] };

export function describe(title, define) {
  const outer = suite;
  suite = { path: [...outer.path, title], hooks: [...outer.hooks] };
  define();
  suite = outer;
}

export function beforeEach(hook) {
  suite.hooks.push(hook);
}

export function it(title, test) {
  cases.push({ name: [...suite.path, title].join(' '), steps: [...suite.hooks, test] });
}

/** Runs every test; returns the names of those that passed, and the errors of the others. */
export async function run() {
  const passed = [];
  const failed = [];
  for (const { name, steps } of cases) {
    try {
      for (const step of steps) await step();
      passed.push(name);
    } catch (error) {
      failed.push(`${name}: ${error}`);
    }
  }
  return { passed, failed };
}
