/** The service under test. */
export interface HttpContractTarget {
  /** `http` or `https` URL before `/plants`, with the path prefix if there is one, such as `http://127.0.0.1:3000/garden`. */
  readonly baseUrl: string;
  /** A valid bearer token. No message of a case contains it. */
  readonly token: string;
}

/**
 * Source of a rule: the project requirement (`specification`), which every implementation must meet, or this project's
 * HTTP API, which settles what the requirement leaves open.
 */
export type HttpContractGroup = 'specification' | 'plant-store';

/**
 * A test case for one rule of the HTTP API, for any test runner. Cases are independent and may run concurrently.
 * `run` throws a `ContractViolation` if the service breaks the rule, and another error if the target is not usable.
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

/** A case before it has a topic. */
export type HttpCase = Omit<HttpContractCase, 'topic'>;
