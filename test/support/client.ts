import { Connection, type HttpResponse, openSocket } from '#contract/http/connection.js';
import { formatRequest, type Headers, isJson, parseObject } from '#contract/http/service.js';
import { type Environment, type Program, plantStore } from './executable.js';
import type { TestPlant } from './plants.js';
import { checkResponse } from './secret-leaks.js';

/** The access token of the services that tests start. */
export const TOKEN = 'token-of-the-tests';

/** An HTTP response as received. */
export interface RawResponse extends HttpResponse {
  /** The number of the Error object, or the status if there is none. */
  readonly outcome: number;
  /** Parses the body as JSON. */
  json(): unknown;
}

/** An HTTP client that sends exact bytes and reads responses one by one. */
export class RawClient extends Connection {
  static async connect(port: number): Promise<RawClient> {
    return new RawClient(await openSocket(new URL(`http://127.0.0.1:${port}`)));
  }

  /** Reads the next response, including `100 Continue`; returns `undefined` if the connection ends first. */
  async readResponse(): Promise<RawResponse | undefined> {
    const response = await this.read();
    if (response === undefined) return undefined;
    checkResponse(response);
    const { error = response.status } = (isJson(response) && parseObject(response.body)) || {};
    return { ...response, outcome: Number(error), json: () => JSON.parse(response.body) };
  }

  /** Reads responses until the connection ends. */
  async readAllResponses(): Promise<RawResponse[]> {
    const responses: RawResponse[] = [];
    for (let response = await this.readResponse(); response; response = await this.readResponse())
      responses.push(response);
    return responses;
  }

  /** Reads the outcomes of responses until the connection ends. */
  async readOutcomes(): Promise<number[]> {
    return (await this.readAllResponses()).map(({ outcome }) => outcome);
  }

  close(): void {
    this.socket.destroy();
  }
}

/** Sends bytes over a new connection and returns the first response. */
export async function exchange(port: number, bytes: string | Uint8Array) {
  const client = await RawClient.connect(port);
  const response = await client.send(bytes).readResponse();
  client.close();
  return response;
}

/** Builds a request. Adds Content-Length for a body unless `headers` define the framing. */
export function request(startLine: string, headers: Headers = {}, body: string | Uint8Array = ''): Buffer {
  return formatRequest(startLine, { Host: 'test', ...headers }, body);
}

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
