import type { HarnessCase } from '../contract/contract.js';
import { durableCases } from '../contract/durable-plant-repository.js';
import type { OpenPlantRepository } from '../contract/index.js';
import { repositoryCases } from '../contract/plant-repository.js';
import { durableOutageCases } from '../contract/plant-repository-outage.js';
import { rejectingCases } from '../contract/rejecting-plant-repository.js';
import { sharedCases } from '../contract/shared-plant-repository.js';
import { issuerOutageCases, verifierCases } from '../contract/token-verifier.js';
import { toPlant } from '../support/plants.js';

/** The cases to run, the wrong members of the harness, and the message that names the mistake. */
type WrongHarness = readonly [cases: readonly HarnessCase<never>[], wrong: object, message: RegExp];

/** Returns harnesses with one mistake each, some of which only JavaScript code can make. */
export function wrongHarnesses(disk: {
  open(): Promise<OpenPlantRepository>;
  reopen(): Promise<OpenPlantRepository>;
}): Readonly<Record<string, WrongHarness>> {
  let opened: OpenPlantRepository | undefined;
  const open = async () => {
    opened = await disk.open();
    return opened;
  };
  const getOpened = async () => opened;
  const nothing = async () => {};
  const run = (work: () => Promise<void>) => work();
  return {
    'no open': [repositoryCases, { open: undefined }, /needs a function open$/],
    'open returns nothing': [repositoryCases, { open: nothing }, /^open\(\) must resolve to a PlantRepository/],
    'open opens the same storage each time': [
      repositoryCases,
      { open: disk.reopen },
      /^open\(\) must open new, empty storage/,
    ],
    'no reopen': [durableCases.slice(1), { reopen: undefined }, /needs a function reopen$/],
    'reopen returns the previous repository': [
      durableCases.slice(1),
      { open, reopen: getOpened },
      /^reopen\(\) must open a new rep/,
    ],
    'openAnother returns the previous one': [
      sharedCases,
      { open, openAnother: getOpened },
      /^openAnother\(\) must open anot/,
    ],
    'no whileUnavailable': [durableOutageCases, { whileUnavailable: undefined }, /needs a function whileUnavailable$/],
    'whileUnavailable does not call work': [
      durableOutageCases,
      { whileUnavailable: nothing },
      /^whileUnavailable\(work\) must call/,
    ],
    'whileUnavailable only calls work': [
      durableOutageCases,
      { whileUnavailable: run },
      /^whileUnavailable\(\) must make the stor/,
    ],
    'rejectedPlant is not a plant': [
      rejectingCases,
      { rejectedPlant: () => ({ id: 1n }) },
      /^rejectedPlant\(\) must return a plant created/,
    ],
    'rejectedPlant is added': [
      rejectingCases,
      { rejectedPlant: () => toPlant({ id: 1n, name: 'Monstera' }) },
      /^rejectedPlant\(\) must return a plant that the storage rejects/,
    ],
    'a short validToken': [
      verifierCases,
      { validToken: 'short' },
      /^validToken must have at least 12 ASCII characters/,
    ],
    'create returns nothing': [verifierCases, { create: nothing }, /^create\(\) must resolve to a TokenVerifier/],
    'no withIssuerUnavailable': [
      issuerOutageCases,
      { withIssuerUnavailable: undefined },
      /needs a function withIssuerUnavailable$/,
    ],
  };
}
