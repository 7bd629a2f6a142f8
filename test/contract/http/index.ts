import { bodyCases } from './bodies.js';
import { conflictCases } from './conflicts.js';
import { credentialCases } from './credentials.js';
import { descriptionCases } from './description.js';
import { encodingCases } from './encodings.js';
import { malformedHttpCases } from './malformed-http.js';
import { earlyRejectionCases, orderCases } from './order.js';
import { pathCases } from './paths.js';
import { pipelineCases } from './pipelines.js';
import { idCases, responseCases, textCases } from './plants.js';
import { specificationCases } from './specification.js';
import type { HttpCase, HttpContractCase } from './types.js';

export { ContractViolation } from '../contract.js';
export { checkHttpTarget } from './case.js';
export type { HttpContractCase, HttpContractGroup, HttpContractTarget } from './types.js';

const topics: Readonly<Record<string, readonly HttpCase[]>> = {
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
  'early rejections': earlyRejectionCases,
  pipelining: pipelineCases,
  description: descriptionCases,
};

/**
 * The contract of the HTTP API, for any service that implements it, with default settings. The cases create
 * plants with random ids and some fixed ones, such as 0 and 1000. The store may contain others, also with these ids.
 */
export const httpContract: readonly HttpContractCase[] = Object.entries(topics).flatMap(([topic, cases]) =>
  cases.map((each) => ({ ...each, topic })),
);
