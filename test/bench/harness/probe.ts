import { firstIdOfLoad } from './ids.js';
import { TOKEN } from './server.js';

/** Creates one plant and looks at the whole answer, which load generators do not: status, name and tag. */
export async function probe(port: number): Promise<void> {
  const plant = { id: firstIdOfLoad(), name: 'Monstera', tag: 'indoor' };
  const answer = await fetch(`http://127.0.0.1:${port}/plants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(plant),
  });
  const text = await answer.text();
  // Feathers answers a create with 201 and the whole plant.
  const holds = (key: 'name' | 'tag') => text.includes(`"${key}":"${plant[key]}"`);
  if (![200, 201].includes(answer.status) || !holds('name') || !holds('tag')) {
    throw new Error(`the first plant was answered ${answer.status} ${text.slice(0, 200)}`);
  }
}
