import { readFileSync } from 'node:fs';
import { type HttpContractCase, type HttpContractTarget, httpContract } from '@plant-store/contract/http';
import { expect } from 'chai';
import { inRepository } from '../support/paths.js';

/** Runs cases of the HTTP contract, its topics at the same time, and returns those that the target does not meet. */
export async function findFailedCases(target: HttpContractTarget, cases = httpContract): Promise<HttpContractCase[]> {
  const failed: HttpContractCase[] = [];
  const topics = [...new Set(cases.map(({ topic }) => topic))];
  const runAll = async (topic: string) => {
    for (const each of cases.filter((other) => other.topic === topic))
      await each.run(target).catch(() => failed.push(each));
  };
  await Promise.all(topics.map(runAll));
  return failed;
}

/** Expects that an example meets the specification, and as many other cases as docs/embed.md states. */
export async function expectStatedCases(example: string, target: HttpContractTarget): Promise<void> {
  const failed = await findFailedCases(target);
  expect(failed.filter(({ group }) => group === 'specification').map(({ name }) => name)).to.deep.equal([]);
  const guide = readFileSync(inRepository('docs/embed.md'), 'utf8');
  const row = guide.split('\n').find((line) => line.startsWith('| ') && line.includes(`(examples/${example})`)) ?? '';
  const [, , met] = row.split(' | ');
  const all = httpContract.filter(({ group }) => group === 'plant-store').length;
  // Some cases depend on whether a response is sent, or read, before the connection ends.
  expect(all - failed.length, 'cases').to.be.closeTo(Number(met), 2);
}
