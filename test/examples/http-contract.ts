import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type HttpContractTarget, httpContract } from '../contract/http/index.js';
import { inRepository } from '../support/paths.js';

/** Runs the HTTP contract, and expects that an example does not meet exactly the cases that its README lists. */
export async function expectContractButForListed(example: string, target: HttpContractTarget): Promise<void> {
  const readme = readFileSync(inRepository(`docs/examples/${example}/README.md`), 'utf8');
  const listed = httpContract.map(({ name }) => name).filter((name) => readme.includes(`- ${name}\n`));
  const failed: string[] = [];
  for (const topic of new Set(httpContract.map((each) => each.topic))) {
    const cases = httpContract.filter((each) => each.topic === topic);
    await Promise.all(cases.map(({ name, run }) => run(target).catch(() => failed.push(name))));
  }
  expect(failed).to.have.members(listed);
}
