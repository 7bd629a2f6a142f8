import { isPlantStoreError, type PlantStoreErrorCode } from '../../core/index.js';
import { listenForUnhandledErrors } from './host.js';

/** A contract for one adapter. */
export interface Contract {
  /** The cases that the harness can run. */
  readonly cases: readonly ContractCase[];
  /** The groups of cases that were left out. */
  readonly leftOut: readonly LeftOutGroup[];
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
   * @throws {InvalidHarness} The harness does not do what its type says.
   */
  run(): Promise<void>;
}

/** A group of cases that a harness cannot run. */
export interface LeftOutGroup {
  readonly group: string;
  /** Such as `the harness has no reopen`. */
  readonly reason: string;
}

/** A case that does not have its harness yet. */
export interface HarnessCase<Harness> extends Pick<ContractCase, 'name' | 'timeoutMs'> {
  run(harness: Harness): Promise<void>;
}

/** Selects the cases that a harness can run. `toGroups` groups cases by the members that they need. */
export function selectCases<Harness extends object>(
  harness: Harness,
  toGroups: (
    group: <Member extends keyof Harness & string>(
      name: string,
      needs: readonly Member[],
      cases: readonly HarnessCase<Harness & Required<Pick<Harness, Member>>>[],
    ) => Contract,
  ) => readonly Contract[],
): Contract {
  const hasAll = <Member extends keyof Harness>(
    needs: readonly Member[],
    candidate: Harness,
  ): candidate is Harness & Required<Pick<Harness, Member>> =>
    needs.every((member) => candidate?.[member] !== undefined);
  const groups = toGroups((group, needs, cases) => {
    if (hasAll(needs, harness)) {
      const bound = cases.map(({ name, timeoutMs, run }) => ({ group, name, timeoutMs, run: () => run(harness) }));
      return { cases: bound, leftOut: [] };
    }
    const missing = needs.filter((member) => harness?.[member] === undefined);
    return { cases: [], leftOut: [{ group, reason: `the harness has no ${missing.join(' and no ')}` }] };
  });
  return { cases: groups.flatMap(({ cases }) => cases), leftOut: groups.flatMap(({ leftOut }) => leftOut) };
}

/** Describes the expected and the actual behaviour of an adapter. */
export class ContractViolation extends Error {
  override readonly name = 'ContractViolation';
}

/** Describes what is wrong with the harness. The adapter was not tested. */
export class InvalidHarness extends Error {
  override readonly name = 'InvalidHarness';
}

/** Part of `timeoutMs` after which a case gives up, so that its own message reaches the test runner first. */
const TIMEOUT_SHARE = 0.9;
/** Most cases take milliseconds. The rest is for slow storage and busy machines. */
const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_MESSAGE_LENGTH = 500;

/** Creates a case that fails if `check` rejects, takes too long, or leaves an error unhandled. */
export function contractCase<Harness>(
  name: string,
  check: (harness: Harness) => Promise<void>,
  timeoutMs: number = DEFAULT_TIMEOUT_MS,
): HarnessCase<Harness> {
  const run = async (harness: Harness) => {
    const unhandled: unknown[] = [];
    const stopListening = listenForUnhandledErrors((error) => unhandled.push(error));
    try {
      const isDone = await isSettledWithin(TIMEOUT_SHARE * timeoutMs, check(harness));
      if (!isDone)
        throw new ContractViolation(`a call did not settle within ${(TIMEOUT_SHARE * timeoutMs) / 1000} seconds`);
      // Work that the check has started for the next turn may reject then; Node reports that after the turn.
      await pause(0);
      await pause(0);
    } finally {
      stopListening();
    }
    if (unhandled.length > 0)
      throw new ContractViolation(
        `the adapter leaves an error unhandled, which would crash the process: ${unhandled[0]}`,
      );
  };
  return { name, timeoutMs, run };
}

/** Returns whether `work` resolves within `timeoutMs`. Rejects if `work` does. */
export async function isSettledWithin(timeoutMs: number, work: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, false);
  });
  try {
    return await Promise.race([work.then(() => true), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

export function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

/** Asserts that the harness has a function: JavaScript has no compiler to check it. */
export function assertFunction<Harness extends object>(harness: Harness, name: keyof Harness & string): void {
  if (typeof harness?.[name] !== 'function') throw new InvalidHarness(`the harness needs a function ${name}`);
}

/** Calls a function of the harness, such as `whileUnavailable`, and asserts that it runs `work`. */
export async function runWithin(
  name: string,
  harnessFunction: (work: () => Promise<void>) => Promise<void>,
  work: () => Promise<unknown>,
): Promise<void> {
  let result: Promise<unknown> | undefined;
  await harnessFunction(async () => {
    result = work();
    await result;
  });
  if (result === undefined) throw new InvalidHarness(`${name}(work) must call work`);
  // Rejects if the harness has caught the error.
  await result;
}

/** Asserts that both values have the same JSON. Bigints are allowed. */
export function assertEqual(actual: unknown, expected: unknown, what: string): void {
  if (toJson(actual) !== toJson(expected))
    throw new ContractViolation(`${what}: expected ${describe(expected)}, got ${describe(actual)}`);
}

/** Asserts that two lists are equal, and names the first element that differs. */
export function assertSameElements<T>(
  actual: readonly T[],
  expected: readonly T[],
  what: string,
  areEqual: (a: T, b: T) => boolean,
): void {
  const index = expected.findIndex((element, position) => {
    const other = actual[position];
    return other === undefined || !areEqual(other, element);
  });
  if (index !== -1)
    throw new ContractViolation(
      `${what}: expected ${describe(expected[index])} at index ${index} of ${expected.length}, got ${describe(actual[index])}`,
    );
  if (actual.length > expected.length)
    throw new ContractViolation(
      `${what}: expected ${expected.length}, got ${actual.length}; the first surplus one is ${describe(actual[expected.length])}`,
    );
}

/**
 * Asserts that `work` returns a promise that rejects with an error of the core with the given code.
 * @returns The error.
 */
export async function assertRejects(
  what: string,
  code: PlantStoreErrorCode,
  work: () => Promise<unknown>,
): Promise<Error> {
  let promise: Promise<unknown>;
  try {
    promise = work();
  } catch (error) {
    throw new ContractViolation(`${what}: expected a rejected promise, but the call threw ${error}`);
  }
  try {
    await promise;
  } catch (error) {
    if (isPlantStoreError(error, code)) return error;
    throw new ContractViolation(`${what}: expected an error with the code ${code}, got ${error}`);
  }
  throw new ContractViolation(`${what}: expected an error with the code ${code}, but the call succeeded`);
}

/** Formats a value for a message. */
export function describe(value: unknown): string {
  const text = toJson(value);
  return text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH)}… (${text.length} characters)` : text;
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}n` : part))}`;
}
