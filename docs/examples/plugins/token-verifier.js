import { readFile } from 'node:fs/promises';
import { services } from 'plant-store';

class TokenFile {
  #tokens = new Set();

  async reload() {
    this.#tokens = new Set((await readFile('tokens.txt', 'utf8')).trim().split('\n'));
  }

  async verify(token) {
    return this.#tokens.has(token) ? { kind: 'valid', principal: { subject: 'gardener' } } : { kind: 'invalid' };
  }
}

export default async (container) => {
  const verifier = new TokenFile();
  await verifier.reload();
  process.on('SIGHUP', () => verifier.reload().catch(({ message }) => console.error(message)));
  container.rebind(services.TokenVerifier).toConstantValue(verifier);
};
