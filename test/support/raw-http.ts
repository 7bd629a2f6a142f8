import { Connection, type HttpResponse, openSocket } from '#contract/http/connection.js';
import { formatRequest, type Headers, isJson, parseObject } from '#contract/http/service.js';
import { checkResponse } from './secret-leaks.js';

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
