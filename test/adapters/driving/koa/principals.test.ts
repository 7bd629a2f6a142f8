import { expect } from 'chai';
import { describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../../../adapters/driven/memory/index.js';
import { CreatePlant, type TokenVerifier } from '../../../../core/index.js';
import { post, TestServer } from './support.js';

describe('A use case that is a function of the principal', () => {
  it('gets the authenticated client, and may decline a plant with an error number of its own', async () => {
    const tokenVerifier: TokenVerifier = { verify: async (subject) => ({ kind: 'valid', principal: { subject } }) };
    const allowing = new CreatePlant(new MemoryPlantRepository());
    const message = 'Too many plants today';
    const error = { error: 42901, message, headers: { 'Retry-After': '3600' } };
    const declining = { execute: async () => ({ kind: 'declined', error }) as const };
    const server = await TestServer.start({
      tokenVerifier,
      createPlant: ({ subject }) => (subject === 'gardener' ? allowing : declining),
    });
    expect(await server.send(post(undefined, { Authorization: 'Bearer gardener' }))).to.equal(200);
    const declined = await server.exchange(post(undefined, { Authorization: 'Bearer visitor' }));
    expect(declined?.status).to.equal(429);
    expect(declined?.headers).to.include({ 'retry-after': '3600', 'content-type': 'application/json' });
    expect(declined?.json()).to.deep.equal({ error: 42901, message });
    await server.stop();
  });
});
