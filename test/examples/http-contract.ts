import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type HttpContractCase, type HttpContractTarget, httpContract } from '../contract/http/index.js';
import { inRepository } from '../support/paths.js';

/** Runs the HTTP contract, its topics at the same time, and returns the cases that the target does not meet. */
export async function findFailedCases(target: HttpContractTarget): Promise<HttpContractCase[]> {
  const failed: HttpContractCase[] = [];
  const topics = [...new Set(httpContract.map(({ topic }) => topic))];
  const runAll = async (topic: string) => {
    for (const each of httpContract.filter((other) => other.topic === topic))
      await each.run(target).catch(() => failed.push(each));
  };
  await Promise.all(topics.map(runAll));
  return failed;
}

/** Runs the HTTP contract, and expects that an example does not meet exactly the cases that its README lists. */
export async function expectContractButForListed(example: string, target: HttpContractTarget): Promise<void> {
  const readme = readFileSync(inRepository(`docs/examples/${example}/README.md`), 'utf8');
  const listed = httpContract.map(({ name }) => name).filter((name) => readme.includes(`- ${name}\n`));
  const failed = await findFailedCases(target);
  expect(failed.map(({ name }) => name)).to.have.members(listed);
}
