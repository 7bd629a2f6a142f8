import { Executable } from '../support/executable.js';
import { exchange, request } from '../support/raw-http.js';
/** The token that the services of these tests let in. */
export const TOKEN = 'system-test-token';
/** Starts the executable on a free port, with {@link TOKEN}, in `folder`. */
export function serve(folder, environment = {}) {
    return new Executable(folder, [], { PORT: '0', ACCESS_TOKENS: TOKEN, ...environment });
}
/** The bytes of a request that creates `plant`. */
export function creating({ id, ...texts }, headers = {}) {
    return request('POST /plants', { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', ...headers }, `{"id":${id},${JSON.stringify(texts).slice(1)}`);
}
/** Creates `plant` over a connection of its own. */
export function create(port, plant, headers) {
    return exchange(port, creating(plant, headers));
}
/** What became of a create: `200`, the number of the Error object, or `undefined` where no answer came. */
export function outcomeOf(answer) {
    if (answer === undefined || answer.status === 200)
        return answer?.status;
    const body = answer.json();
    return typeof body === 'object' && body !== null && 'error' in body ? body.error : body;
}
/** Plants in the order in which {@link plantsIn} reads them. */
export function byId(plants) {
    return [...plants].sort((a, b) => (a.id < b.id ? -1 : 1));
}
/** The lines of a text that ends with a line break, or is empty. */
export function linesOf(text) {
    return text.split('\n').slice(0, -1);
}
//# sourceMappingURL=client.js.map