import { type HttpContractCase, type HttpContractTarget, httpContract } from '@plant-store/contract/http';

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
