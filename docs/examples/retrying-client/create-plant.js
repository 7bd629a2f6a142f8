// Creates a plant over HTTP, and retries until it is stored. Runs in Node, and in browsers on the same origin.

/** Statuses after which a retry may succeed. `undefined` is no response, or an incomplete one. */
const RETRIED = [undefined, 408, 429, 502, 503, 504];

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Resolves when the plant is stored. If no retry helps, rejects with the `error` and `message` of the Error object.
 *
 * Once `signal` is aborted, no further attempt starts, and the plant may have been stored. For a deadline, pass
 * `AbortSignal.timeout(60_000)`.
 */
export async function createPlant({ id, name, tag }, { baseUrl, token, signal, pause = sleep }) {
  if (typeof id !== 'bigint') throw new TypeError('the id must be a bigint, because a number may have been rounded');
  // The first 0 stands for the id, because JSON.stringify throws for a bigint.
  const body = JSON.stringify({ id: 0, name, tag }).replace('0', `${id}`);
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  // After a redirect, fetch may send a GET, whose 200 does not mean that the plant is stored.
  const request = new Request(`${baseUrl}/plants`, { method: 'POST', headers, body, redirect: 'manual' });
  for (let delayMs = 1000; ; delayMs = Math.min(2 * delayMs, 30_000)) {
    signal?.throwIfAborted();
    const { status, retryAfterMs = 0, reply } = await send(request.clone()).catch(() => ({}));
    const { error, message = `HTTP status ${status}` } = reply ?? {};
    // The page of a proxy may have the status 200.
    if ((status === 200 && reply?.name === name) || error === 40902) return;
    if (!RETRIED.includes(status) && error !== 50001) throw Object.assign(new Error(message), { error });
    await pause(retryAfterMs + Math.random() * delayMs);
  }
}

async function send(request) {
  const response = await fetch(request, { signal: AbortSignal.timeout(15_000) });
  const text = await response.text();
  const retryAfterMs = 1000 * Math.min(Number(response.headers.get('Retry-After')) || 0, 3600);
  // The body of a proxy may not be JSON.
  return { status: response.status, retryAfterMs, reply: await new Response(text).json().catch(() => undefined) };
}
