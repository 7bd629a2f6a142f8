import { Executable } from './executable.js';
import { exchange, RawClient, type RawResponse, request } from './raw-http.js';

/** The access token of the services that {@link serve} starts. */
export const TOKEN = 'system-test-token';

/**
 * Starts the executable in `folder` on a free port, with {@link TOKEN}.
 *
 * @param command wrapper that runs the executable, such as `strace …`
 */
export function serve(
  folder: string,
  environment: Readonly<Record<string, string>> = {},
  command: readonly string[] = [],
): Executable {
  return new Executable(folder, [], { PORT: '0', ACCESS_TOKENS: TOKEN, ...environment }, command);
}

/** Runs the service until it exits, and fails if it listens. */
export async function runFailingStart(
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<{ exitCode: number | NodeJS.Signals; lines: string[]; all: string }> {
  const run = new Executable(folder, [], { PORT: '0', DATABASE_URL: 'memory:', ...environment });
  const started = await run.waitForOutput(/listens on/).then(
    () => true,
    () => false,
  );
  if (started) throw new Error('the service started');
  return { exitCode: await run.exited(), lines: toLines(run.stderr), all: run.stdout + run.stderr };
}

/** A plant as a test sends it and expects it in the store. */
export interface TestPlant {
  readonly id: bigint;
  readonly name: string;
  readonly tag?: string;
}

/** Returns the bytes of a request that creates `plant`. */
export function createRequest({ id, ...texts }: TestPlant, headers: Readonly<Record<string, string>> = {}): Buffer {
  return request(
    'POST /plants',
    { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', ...headers },
    `{"id":${id},${JSON.stringify(texts).slice(1)}`,
  );
}

/** Creates `plant` over a new connection. */
export function create(
  port: number,
  plant: TestPlant,
  headers?: Readonly<Record<string, string>>,
): Promise<RawResponse | undefined> {
  return exchange(port, createRequest(plant, headers));
}

/** Sends the head of a create and waits for `100 Continue`; `finish` sends the body. */
export async function beginCreate(
  port: number,
  plant: TestPlant,
): Promise<{ client: RawClient; finish: () => RawClient }> {
  const client = await RawClient.connect(port);
  const bytes = createRequest(plant, { Expect: '100-continue' });
  const bodyAt = bytes.indexOf('\r\n\r\n') + 4;
  const response = await client.send(bytes.subarray(0, bodyAt)).readResponse();
  if (response?.status !== 100) throw new Error(`100 Continue expected, got ${response?.status}`);
  return { client, finish: () => client.send(bytes.subarray(bodyAt)) };
}

/** Converts a response to its outcome: `200`, the number of the Error object, or `undefined` without a response. */
export function toOutcome(response: RawResponse | undefined): unknown {
  if (response === undefined || response.status === 200) return response?.status;
  const body: unknown = response.json();
  return typeof body === 'object' && body !== null && 'error' in body ? body.error : body;
}

/** Sorts plants by id, the order in which stores return them. */
export function byId(plants: Iterable<TestPlant>): TestPlant[] {
  return [...plants].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Splits a string into lines; it is empty or ends with a line break. */
export function toLines(text: string): string[] {
  return text.split('\n').slice(0, -1);
}
