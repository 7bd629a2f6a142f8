import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Mocha, { type MochaOptions, type Runner } from 'mocha';

/**
 * Mocha's reporter `dot`, which also prints the failure of a test that passed when it was run again. If `TEST_REPORTS`
 * names a folder, writes the number of tests by outcome to a JSON file there, by tier.
 */
export default class Reporter extends Mocha.reporters.Dot {
  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    const retried: string[] = [];
    runner.on('retry', (test, error) => retried.push(`${test.fullTitle()}\n${error.stack ?? error}`));
    runner.once('end', () => {
      for (const failure of retried) process.stdout.write(`  Failed, then run again: ${failure}\n\n`);
      const { TEST_REPORTS: folder, TEST_TIER: tier = 'test' } = process.env;
      if (!folder) return;
      const { passes: passed, failures: failed, pending: skipped } = this.stats;
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${tier}.json`), JSON.stringify({ passed, failed, skipped }));
    });
  }
}
