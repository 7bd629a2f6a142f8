import type { Headers } from '#contract/http/service.js';
import { type Environment, type Program, plantStore } from './executable.js';
import type { TestPlant } from './plants.js';
import { exchange, RawClient, type RawResponse, request } from './raw-http.js';
import { TOKEN } from './service.js';

/** Starts the service in `folder` on a free port, with {@link TOKEN}. `wrapper` is as of {@link plantStore}. */
export function serve(folder: string, environment: Environment = {}, wrapper: readonly string[] = []): Program {
  return plantStore(folder, [], { PORT: '0', ACCESS_TOKENS: TOKEN, ...environment }, wrapper);
}

/** Headers of a valid create. */
export const CREATE_HEADERS = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' } as const;

/** Returns the bytes of a request that creates `plant`. */
export function createRequest({ id, ...texts }: TestPlant, headers: Headers = {}): Buffer {
  return request('POST /plants', { ...CREATE_HEADERS, ...headers }, `{"id":${id},${JSON.stringify(texts).slice(1)}`);
}

/** Creates `plant` over a new connection. */
export function create(port: number, plant: TestPlant, headers?: Headers): Promise<RawResponse | undefined> {
  return exchange(port, createRequest(plant, headers));
}

/** Sends the head of a create and waits for `100 Continue`; `finish` sends the body. */
export async function beginCreate(port: number, plant: TestPlant) {
  const client = await RawClient.connect(port);
  const bytes = createRequest(plant, { Expect: '100-continue' });
  const bodyAt = bytes.indexOf('\r\n\r\n') + 4;
  const response = await client.send(bytes.subarray(0, bodyAt)).readResponse();
  if (response?.status !== 100) throw new Error(`100 Continue expected, got ${response?.status}`);
  return { client, finish: () => client.send(bytes.subarray(bodyAt)) };
}

/** Splits a string into lines; it is empty or ends with a line break. */
export function toLines(text: string): string[] {
  return text.split('\n').slice(0, -1);
}
