import { HttpServer } from '@plant-store/adapters/http-server';
import { createKoaApp } from '@plant-store/adapters/koa';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { CreatePlant } from '@plant-store/core';
import { expect } from 'chai';
import { it } from 'mocha';

const tokenVerifier = { verify: async () => ({ kind: 'valid', principal: { subject: 'tester' } }) };
const headers = { Authorization: 'Bearer token', 'Content-Type': 'application/json' };
const body = '{"id":1,"name":"Monstera"}';

it('creates a plant', async () => {
  const createPlant = new CreatePlant(new MemoryPlantRepository());
  const outcome = await createPlant.execute({ id: 1n, name: 'Monstera' });
  expect(outcome.kind).to.equal('created');
});

it('responds 40901 if the id is in use', async () => {
  const createPlant = { execute: async () => ({ kind: 'id-conflict' }) };
  const server = new HttpServer(createKoaApp({ createPlant, tokenVerifier }).callback());
  const url = await server.listen(0, '127.0.0.1');
  const response = await fetch(`${url}/plants`, { method: 'POST', headers, body });
  await server.stop();
  expect(await response.json()).to.include({ error: 40901 });
});
