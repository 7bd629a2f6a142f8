import { type Cases, ContractViolation, settlesWithin } from '../contract.js';
import { bodyCases } from './bodies.js';
import { earlyRejectionCases, pipelineCases } from './connections.js';
import { credentialCases } from './credentials.js';
import { descriptionCases } from './description.js';
import { encodingCases } from './encodings.js';
import { malformedHttpCases, timeoutCases } from './malformed-http.js';
import { orderCases } from './order.js';
import { pathCases } from './paths.js';
import { conflictCases, idCases, responseCases, textCases } from './plants.js';
import { type HttpContractTarget, Service } from './service.js';
import { specificationCases } from './specification.js';

export { ContractViolation } from '../contract.js';
export type { HttpContractTarget } from './service.js';

/**
 * Source of a rule: the project requirement (`specification`), which every implementation must meet, or this project's
 * HTTP API, which settles what the requirement leaves open.
 */
export type HttpContractGroup = 'specification' | 'plant-store';

/**
 * A test case for one rule of the HTTP API, for any test runner. Cases are independent and may run concurrently.
 * `run` throws a `ContractViolation` if the service breaks the rule or does not respond.
 */
export interface HttpContractCase {
  /** The rule, usable as a test title. */
  readonly name: string;
  readonly group: HttpContractGroup;
  /** What the rule is about, such as `ids` or `malformed HTTP`. */
  readonly topic: string;
  /** Maximum time that `run` takes, in milliseconds. */
  readonly timeoutMs: number;
  run(target: HttpContractTarget): Promise<void>;
}

/** Maximum time for a case. */
const TIMEOUT_MS = 10_000;
/** Maximum time for headers by default (HEADERS_TIMEOUT), and a margin. */
const TIMEOUTS_TIMEOUT_MS = 20_000;

const topics: Readonly<Record<string, Cases<Service>>> = {
  specification: specificationCases,
  responses: responseCases,
  ids: idCases,
  texts: textCases,
  conflicts: conflictCases,
  bodies: bodyCases,
  'media types, encodings and sizes': encodingCases,
  credentials: credentialCases,
  paths: pathCases,
  'order of checks': orderCases,
  'malformed HTTP': malformedHttpCases,
  timeouts: timeoutCases,
  'early rejections': earlyRejectionCases,
  pipelining: pipelineCases,
  description: descriptionCases,
};

/**
 * The contract of the HTTP API, for any service that implements it, with default settings. The cases create
 * plants with random ids and some fixed ones, such as 0 and 1000. The store may contain others, also with these ids.
 */
export const httpContract: readonly HttpContractCase[] = Object.entries(topics).flatMap(([topic, cases]) => {
  const group = topic === 'specification' ? 'specification' : 'plant-store';
  const timeoutMs = cases === timeoutCases ? TIMEOUTS_TIMEOUT_MS : TIMEOUT_MS;
  return Object.entries(cases).map(([name, check]): HttpContractCase => {
    const run = (target: HttpContractTarget) => runCase(target, check, timeoutMs);
    return { name, group, topic, timeoutMs, run };
  });
});

async function runCase(target: HttpContractTarget, check: Cases<Service>[string], timeoutMs: number): Promise<void> {
  const service = new Service(target);
  try {
    if (await settlesWithin(timeoutMs, check(service))) return;
  } catch (error) {
    const message = error instanceof Error ? error.message : `${error}`;
    throw new ContractViolation(message.replaceAll(target.token, '<token>'));
  } finally {
    service.close();
  }
  const received = `received neither within ${timeoutMs / 1000} seconds`;
  throw new ContractViolation(`expected a response or a closed connection; ${received}`);
}
