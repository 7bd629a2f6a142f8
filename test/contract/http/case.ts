import { ContractViolation } from '../contract.js';
import type { HttpResponse } from './connection.js';
import { expectOutcome, newPlant, Service, simpleId } from './service.js';
import type { HttpCase, HttpContractGroup, HttpContractTarget } from './types.js';

/** Maximum time for the work of a case, unless it says otherwise. */
const CASE_TIMEOUT_MS = 10_000;
/** Maximum time for the check of the base URL and the token. */
const CHECK_TIMEOUT_MS = 5_000;

type Check = (service: Service) => Promise<void>;

/** Creates a case for a rule of the specification. */
export function specificationCase(name: string, check: Check): HttpCase {
  return httpCase('specification', name, check, CASE_TIMEOUT_MS);
}

/** Creates a case for a rule of this project's interface. */
export function plantStoreCase(name: string, check: Check, workTimeoutMs: number = CASE_TIMEOUT_MS): HttpCase {
  return httpCase('plant-store', name, check, workTimeoutMs);
}

/** Creates a case that expects the outcome of one response. */
export function outcomeCase(
  name: string,
  outcome: number,
  respond: (service: Service) => Promise<HttpResponse>,
): HttpCase {
  return plantStoreCase(name, async (service) => expectOutcome(await respond(service), outcome));
}

/** Creates a case per value of a header of a create, with the same outcome. */
export function headerCases(
  header: string,
  values: readonly string[],
  outcome: number,
  toBody: () => string | Uint8Array = newPlant,
): HttpCase[] {
  const verb = outcome === 200 ? 'accepts' : `responds ${outcome} to`;
  return values.map((value) =>
    outcomeCase(`${verb} ${header}: ${value || '(empty)'}`, outcome, (service) =>
      service.create(toBody(), { [header]: value }),
    ),
  );
}

/** Creates a case per row of a table. `%s` in the title stands for the name of the row. */
export function casesFor<Row>(
  rows: Readonly<Record<string, Row>>,
  title: string,
  check: (service: Service, row: Row) => Promise<void>,
): HttpCase[] {
  return Object.entries(rows).map(([what, row]) =>
    plantStoreCase(
      title.replace('%s', () => what),
      (service) => check(service, row),
    ),
  );
}

function httpCase(group: HttpContractGroup, name: string, check: Check, workTimeoutMs: number): HttpCase {
  return {
    name,
    group,
    timeoutMs: workTimeoutMs + CHECK_TIMEOUT_MS,
    async run(target) {
      await assertChecked(target);
      const withoutToken = (message: string) => message.replaceAll(target.token, '<token>');
      await runCheck(target, check, workTimeoutMs, (message) => new ContractViolation(withoutToken(message)));
    },
  };
}

/** Runs a check within a time. `toError` makes the error of a check that fails. */
async function runCheck(
  target: HttpContractTarget,
  check: Check,
  timeoutMs: number,
  toError: (message: string) => Error,
): Promise<void> {
  const service = new Service(target, timeoutMs);
  try {
    await check(service);
    // A check that waits for the end of a connection also ends when the time is up.
    if (service.isTimedOut) throw service.explain(undefined);
  } catch (error) {
    const explained = service.explain(error);
    throw toError(explained instanceof Error ? explained.message : `${explained}`);
  } finally {
    service.close();
  }
}

/** Results of {@link checkHttpTarget} by target. */
const checks = new Map<string, Promise<void>>();

/**
 * Checks the base URL and the token with one create. Every case does so too, once per target; call this first to get one
 * error instead of one per case.
 * @throws {Error} No service with a path `/plants` responds at the base URL, or it does not accept the token.
 */
export function checkHttpTarget(target: HttpContractTarget): Promise<void> {
  const check = checkTarget(target);
  checks.set(keyOf(target), check);
  return check;
}

async function assertChecked(target: HttpContractTarget): Promise<void> {
  const earlier = checks.get(keyOf(target));
  if (earlier === undefined) return checkHttpTarget(target);
  await earlier.catch(() => {
    throw new Error('not run, because the base URL or the token does not work; see the first failure');
  });
}

function keyOf({ baseUrl, token }: HttpContractTarget): string {
  return JSON.stringify([baseUrl, token]);
}

async function checkTarget(target: HttpContractTarget): Promise<void> {
  const { baseUrl, token } = target;
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol) || /[?#]/.test(baseUrl)) {
    throw new TypeError(`the base URL ${baseUrl} must be an http or https URL without a query or fragment`);
  }
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
    throw new TypeError('the token must be a string of ASCII characters without spaces');
  }
  const url = `${baseUrl.replace(/\/$/, '')}/plants`;
  const check = async (service: Service) => {
    const { status } = await service.create(newPlant({}, simpleId()));
    if (status === 401 || status === 403) throw new Error(`does not accept the token (status ${status})`);
    if (status === 404 || status === 405)
      throw new Error(`does not exist (status ${status}); the base URL may be wrong`);
    if (status >= 500 || Number.isNaN(status)) throw new Error(`is not ready (status ${status})`);
  };
  await runCheck(target, check, CHECK_TIMEOUT_MS, (message) => new Error(`POST ${url}: ${message}`));
}
