/** The part of mocha that some tests use, for runtimes without mocha. `runtimes.test.ts` bundles it. */

const titles = [];
const tests = [];
let hooks = [];

export function describe(title, define) {
  const outer = hooks;
  titles.push(title);
  hooks = [...outer];
  define();
  hooks = outer;
  titles.pop();
}

export const beforeEach = (hook) => hooks.push(hook);
export const it = (title, test) => {
  tests.push([[...titles, title].join(' '), [...hooks, test]]);
  return { timeout() {} };
};

/** Runs every test; returns the number of those that passed, and the errors of the others. */
export async function run() {
  const failed = [];
  for (const [name, steps] of tests) {
    try {
      for (const step of steps) await step();
    } catch (error) {
      failed.push(`${name}: ${error}`);
    }
  }
  return { passed: tests.length - failed.length, failed };
}
