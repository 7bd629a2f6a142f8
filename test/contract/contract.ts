/** A contract for one adapter. */
export interface Contract {
  /** The cases that the harness can run. */
  readonly cases: readonly ContractCase[];
  /** The groups of cases that were left out. A reason is such as `the harness has no reopen`. */
  readonly leftOut: readonly { readonly group: string; readonly reason: string }[];
}

/** A test case for one guarantee of a port, for any test runner. Passes if `run` resolves. */
export interface ContractCase {
  /** The subject, such as `durability`. */
  readonly group: string;
  /** The guarantee, usable as a test title. */
  readonly name: string;
  /** Maximum duration in milliseconds, for the test runner. `run` rejects shortly before, and says so. */
  readonly timeoutMs: number;
  /**
   * @throws {ContractViolation} The adapter breaks the guarantee. Errors of the adapter propagate.
   */
  run(): Promise<void>;
}

/** Describes the expected and the actual behaviour of an adapter. */
export class ContractViolation extends Error {
  override readonly name = 'ContractViolation';
}

/** Cases by name; each gets its context from the harness. */
export type Cases<Context> = Readonly<Record<string, (context: Context) => Promise<unknown>>>;

/** Cases that need the same members of a harness. */
interface CaseGroup<Harness, Context> {
  readonly group: string;
  readonly needs: readonly (keyof Harness & string)[];
  readonly cases: Cases<Context>;
  readonly timeoutMs?: number;
}

/** Selects the cases that a harness can run. `use` calls a case with its context. */
export function selectCases<Harness, Context>(
  harness: Harness,
  use: (harness: Harness, check: (context: Context) => Promise<unknown>) => Promise<void>,
  groups: readonly CaseGroup<Harness, Context>[],
): Contract {
  const cases: ContractCase[] = [];
  const leftOut: Contract['leftOut'][number][] = [];
  for (const { group, needs, timeoutMs = DEFAULT_TIMEOUT_MS, ...given } of groups) {
    const missing = needs.filter((member) => harness[member] === undefined);
    if (missing.length > 0) leftOut.push({ group, reason: `the harness has no ${missing.join(' and no ')}` });
    else
      for (const [name, check] of Object.entries(given.cases))
        cases.push({ group, name, timeoutMs, run: () => runCase(() => use(harness, check), timeoutMs) });
  }
  return { cases, leftOut };
}

/** Most cases take milliseconds. The rest is for slow storage, timeouts of the adapter and busy machines. */
const DEFAULT_TIMEOUT_MS = 90_000;

/** Absent in browsers, partial in other runtimes. Not exported, because the types of the contract need none of Node. */
const runtime: Partial<NodeJS.Process> | undefined = globalThis.process;

/** Runs a case. Rejects if `check` does, takes too long, or leaves a rejection without a handler, as far as Node tells. */
async function runCase(check: () => Promise<void>, timeoutMs: number): Promise<void> {
  const unhandled: unknown[] = [];
  const listener = (reason: unknown) => unhandled.push(reason);
  runtime?.on?.('unhandledRejection', listener);
  try {
    // This time ends before that of the test runner, so that the message reaches it.
    const limitMs = 0.9 * timeoutMs;
    if (!(await settlesWithin(limitMs, check())))
      throw new ContractViolation(`a call did not settle within ${limitMs / 1000} seconds`);
    // Work of the next turn of the event loop may reject, and Node reports that after the turn.
    await pause(0);
    await pause(0);
  } finally {
    runtime?.off?.('unhandledRejection', listener);
  }
  if (unhandled.length > 0)
    throw new ContractViolation(`a rejection without a handler, which ends the process: ${unhandled[0]}`);
}

/** Returns whether `work` resolves within `timeoutMs`. Rejects if `work` does. */
export async function settlesWithin(timeoutMs: number, work: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, false);
  });
  return Promise.race([work.then(() => true), timeout]).finally(() => clearTimeout(timer));
}

export function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

/** Runs `work` in a function of the harness, such as `whileUnavailable`. Rejects if `work` does. */
export async function runDuring<Name extends string>(
  harness: { readonly [name in Name]?: (work: () => Promise<unknown>) => Promise<unknown> },
  name: Name,
  work: () => Promise<unknown>,
): Promise<void> {
  let result: Promise<unknown> | undefined;
  await harness[name]?.(async () => {
    result = work();
    await result;
  });
  if (result === undefined) throw new TypeError(`${name}(work) must call work`);
  // Rejects if the harness has caught the error.
  await result;
}

/** Asserts that both values have the same JSON. Of two arrays, names the first element that differs. */
export function assertEqual(actual: unknown, expected: unknown, what: string): void {
  if (Array.isArray(actual) && Array.isArray(expected)) {
    const length = Math.max(actual.length, expected.length);
    for (let index = 0; index < length; index++) assertEqual(actual[index], expected[index], `${what}[${index}]`);
  } else if (toJson(actual) !== toJson(expected)) {
    throw new ContractViolation(`${what}: expected ${describe(expected)}, got ${describe(actual)}`);
  }
}

/** Asserts that `call` rejects with an expected error, and returns the error. */
export async function assertRejects<Expected extends Error>(
  what: string,
  isExpected: (error: unknown) => error is Expected,
  call: () => Promise<unknown>,
): Promise<Expected> {
  const result = await call().catch((error: unknown) => error);
  if (isExpected(result)) return result;
  throw new ContractViolation(`${what}: expected an error that ${isExpected.name} accepts, got ${describe(result)}`);
}

/** Formats a value for a message. */
export function describe(value: unknown): string {
  const text = toJson(value);
  return text.length > 500 ? `${text.slice(0, 500)}… (${text.length} characters)` : text;
}

/** Unlike `JSON.stringify`, includes bigints and errors. */
function toJson(value: unknown): string {
  const replace = (_: string, part: unknown) =>
    typeof part === 'bigint' ? `${part}n` : part instanceof Error ? `${part}` : part;
  return `${JSON.stringify(value, replace)}`;
}
