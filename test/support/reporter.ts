import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import Mocha, { type MochaOptions, type Runner } from 'mocha';
import { inRepository } from './paths.js';

/** Number of tests of one folder by outcome, and their total duration. */
type Area = Record<'passed' | 'failed' | 'skipped' | 'durationMs', number>;

/**
 * Prints one line per test folder with the total duration of its tests, then every failure in full, also that of a test
 * that passed when it was run again. If `TEST_REPORTS` names a folder, writes the counts to a JSON file there, by tier.
 */
export default class Reporter extends Mocha.reporters.Base {
  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    const areas = new Map<string, Area>();
    const retried: string[] = [];
    const { isTTY } = process.stdout;
    /** Returns the area of a test or hook. Hooks of the root suite have no file. */
    const areaOf = ({ file, parent }: Mocha.Runnable): Area => {
      const path = file ?? parent?.file;
      const name = path === undefined ? 'all' : dirname(relative(inRepository('dist/test'), path));
      const area = areas.get(name) ?? { passed: 0, failed: 0, skipped: 0, durationMs: 0 };
      areas.set(name, area);
      return area;
    };
    for (const [event, outcome] of Object.entries({ pass: 'passed', fail: 'failed', pending: 'skipped' } as const)) {
      runner.on(event, (test: Mocha.Runnable) => {
        const area = areaOf(test);
        area[outcome]++;
        area.durationMs += test.duration ?? 0;
        if (isTTY) process.stdout.write(`\r  ${this.stats.passes} passed, ${this.stats.failures} failed `);
      });
    }
    runner.on('retry', (test, error) => retried.push(`${test.fullTitle()}\n${error.stack ?? error}`));
    runner.on('hook end', (hook) => {
      areaOf(hook).durationMs += hook.duration ?? 0;
    });
    runner.once('end', () => {
      if (isTTY) process.stdout.write('\r\u001b[K');
      for (const [name, { passed, failed, skipped, durationMs }] of areas) {
        if (passed + failed + skipped === 0) continue;
        const more = `${failed ? `, ${failed} failed` : ''}${skipped ? `, ${skipped} skipped` : ''}`;
        const seconds = `${(durationMs / 1000).toFixed(1)} s`;
        process.stdout.write(`  ${name.padEnd(24)}${seconds.padStart(8)}   ${passed} passed${more}\n`);
      }
      this.epilogue();
      for (const failure of retried) process.stdout.write(`  Failed, then run again: ${failure}\n\n`);
      const folder = process.env['TEST_REPORTS'];
      if (!folder) return;
      const { passes: passed, failures: failed, pending: skipped } = this.stats;
      mkdirSync(folder, { recursive: true });
      const file = join(folder, `${process.env['TEST_TIER'] ?? 'test'}.json`);
      writeFileSync(file, JSON.stringify({ passed, failed, skipped }));
    });
  }
}
