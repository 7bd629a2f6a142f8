import { firstIdOfLoad } from './ids.js';
import { TOKEN } from './server.js';

/** Creates one plant and checks the response, including name and tag, which the load generators do not check. */
export async function probe(port: number): Promise<void> {
  const plant = { id: firstIdOfLoad(), name: 'Monstera', tag: 'indoor' };
  const response = await fetch(`http://127.0.0.1:${port}/plants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(plant),
  });
  const text = await response.text();
  // Feathers responds with 201 and the whole plant.
  const holds = (key: 'name' | 'tag') => text.includes(`"${key}":"${plant[key]}"`);
  if (![200, 201].includes(response.status) || !holds('name') || !holds('tag')) {
    throw new Error(`the first create failed: ${response.status} ${text.slice(0, 200)}`);
  }
}
