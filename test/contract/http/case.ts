import { ContractViolation } from '../contract.js';
import type { HttpResponse } from './connection.js';
import { expectOutcome, newPlant, Service, simpleId } from './service.js';
import type { HttpCase, HttpContractTarget } from './types.js';

/** Maximum time for a case, unless it says otherwise. */
const CASE_TIMEOUT_MS = 10_000;

type Check = (service: Service) => Promise<void>;

/** Creates a case for a rule of the specification. */
export function specificationCase(name: string, check: Check): HttpCase {
  return { ...plantStoreCase(name, check), group: 'specification' };
}

/** Creates a case for a rule of this project's interface. */
export function plantStoreCase(name: string, check: Check, timeoutMs: number = CASE_TIMEOUT_MS): HttpCase {
  const run = (target: HttpContractTarget) =>
    runCheck(target, check, timeoutMs).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : `${error}`;
      throw new ContractViolation(message.replaceAll(target.token, '<token>'));
    });
  return { name, group: 'plant-store', timeoutMs, run };
}

/** Creates a case that expects the outcome of one response. */
export function outcomeCase(
  name: string,
  outcome: number,
  respond: (service: Service) => Promise<HttpResponse>,
): HttpCase {
  return plantStoreCase(name, async (service) => expectOutcome(await respond(service), outcome));
}

/** Creates a case per rule that expects the same outcome of each example. `%s` in the title stands for the rule. */
export function examplesCases(
  rules: Readonly<Record<string, readonly string[]>>,
  title: string,
  outcome: number,
  respond: (service: Service, example: string) => Promise<HttpResponse>,
): HttpCase[] {
  return casesFor(rules, title, async (service, examples) => {
    for (const example of examples) expectOutcome(await respond(service, example), outcome, ` for ${example}`);
  });
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

async function runCheck(target: HttpContractTarget, check: Check, timeoutMs: number): Promise<void> {
  const service = new Service(target);
  const timeout = new Promise<never>((_, reject) => {
    const message = `expected a response or a closed connection; received neither within ${timeoutMs / 1000} seconds`;
    service.signal.addEventListener('abort', () => reject(new ContractViolation(message)));
  });
  const timer = setTimeout(() => service.close(), timeoutMs);
  try {
    await Promise.race([timeout, check(service)]);
  } finally {
    clearTimeout(timer);
    timeout.catch(() => {});
    service.close();
  }
}

/**
 * Checks the base URL and the token with one create. Call this first to get one error instead of one per case.
 * @throws {Error} No service with a path `/plants` responds at the base URL, or it does not accept the token.
 */
export async function checkHttpTarget(target: HttpContractTarget): Promise<void> {
  const check = async (service: Service) => {
    const { status } = await service.create(newPlant({}, simpleId()));
    if ([401, 403].includes(status)) throw new Error(`does not accept the token (status ${status})`);
    if ([404, 405].includes(status)) throw new Error(`does not exist (status ${status}); the base URL may be wrong`);
    if (!(status < 500)) throw new Error(`is not ready (status ${status})`);
  };
  await runCheck(target, check, CASE_TIMEOUT_MS).catch(({ message }: Error) => {
    throw new Error(`POST ${target.baseUrl.replace(/\/$/, '')}/plants: ${message}`);
  });
}
