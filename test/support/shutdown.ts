import { expect } from 'chai';
import { byId, type TestPlant, toOutcome } from './client.js';
import type { TestStore } from './engines.js';
import type { Program } from './executable.js';
import type { RawResponse } from './raw-http.js';

/** Expects a complete response to each request, exit code 0, and exactly the acknowledged plants in the store. */
export async function expectNoneDropped(
  service: Program,
  store: TestStore,
  sent: readonly { readonly plant: TestPlant; readonly response: RawResponse | undefined }[],
): Promise<void> {
  const outcomes = sent.map(({ response }) => toOutcome(response));
  const dropped = outcomes.filter((outcome) => outcome === undefined);
  expect(dropped, `dropped requests, of ${sent.length}`).to.have.length(0);
  expect([200, 50303]).to.include.members([...new Set(outcomes)]);
  expect(await service.exited()).to.equal(0);
  const created = sent.filter(({ response }) => response?.status === 200).map(({ plant }) => plant);
  expect(await store.readPlants()).to.deep.equal(byId(created));
}
