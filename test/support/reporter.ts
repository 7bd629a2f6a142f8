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
  readonly #areas = new Map<string, Area>();
  readonly #retried: string[] = [];

  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    runner.on('pass', (test) => this.#count(test, 'passed'));
    runner.on('fail', (test) => this.#count(test, 'failed'));
    runner.on('pending', (test) => this.#count(test, 'skipped'));
    runner.on('retry', (test, error) => this.#retried.push(`${test.fullTitle()}\n${error.stack ?? error}`));
    runner.on('hook end', (hook) => {
      this.#areaOf(hook).durationMs += hook.duration ?? 0;
    });
    runner.once('end', () => this.#report());
  }

  #count(test: Mocha.Runnable, outcome: 'passed' | 'failed' | 'skipped'): void {
    const area = this.#areaOf(test);
    area[outcome]++;
    area.durationMs += test.duration ?? 0;
    if (!process.stdout.isTTY) return;
    const { passes, failures } = this.stats;
    process.stdout.write(`\r  ${passes} passed, ${failures} failed `);
  }

  /** Returns the area of a test or hook. Hooks of the root suite have no file. */
  #areaOf({ file, parent }: Mocha.Runnable): Area {
    const path = file ?? parent?.file;
    const name = path === undefined ? 'all' : dirname(relative(inRepository('dist/test'), path));
    const area = this.#areas.get(name) ?? { passed: 0, failed: 0, skipped: 0, durationMs: 0 };
    this.#areas.set(name, area);
    return area;
  }

  #report(): void {
    if (process.stdout.isTTY) process.stdout.write('\r\u001b[K');
    for (const [name, { passed, failed, skipped, durationMs }] of this.#areas) {
      if (passed + failed + skipped === 0) continue;
      const more = `${failed ? `, ${failed} failed` : ''}${skipped ? `, ${skipped} skipped` : ''}`;
      const seconds = `${(durationMs / 1000).toFixed(1)} s`;
      process.stdout.write(`  ${name.padEnd(24)}${seconds.padStart(8)}   ${passed} passed${more}\n`);
    }
    this.epilogue();
    for (const failure of this.#retried) process.stdout.write(`  Failed, then run again: ${failure}\n\n`);
    const folder = process.env['TEST_REPORTS'];
    if (!folder) return;
    const { passes, failures, pending } = this.stats;
    const counts = { passed: passes, failed: failures, skipped: pending };
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${process.env['TEST_TIER'] ?? 'test'}.json`), JSON.stringify(counts));
  }
}
