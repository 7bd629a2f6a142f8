import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { inRepository } from '../../support/paths.js';
import { benches } from '../benches/index.js';
import type { Section } from '../harness/bench.js';
import type { Machine } from '../harness/machine.js';
import { chartOf } from './chart.js';
import { documentOf } from './document.js';

/** What `docs/benchmarks.json` holds: the newest section of each bench, all of one machine. */
export interface Data {
  readonly machine: Machine;
  readonly sections: readonly StoredSection[];
}

export interface StoredSection extends Section {
  /** The name of the bench that made it. */
  readonly bench: string;
  /** When, as YYYY-MM-DD. */
  readonly date: string;
}

const FILE = inRepository('docs/benchmarks.json');

/** Puts a section in the place of the one before it, and makes the document and the chart anew. */
export function store(section: StoredSection, machine: Machine): void {
  const before: Data = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : { machine, sections: [] };
  // Figures of two machines do not stand side by side.
  const kept = isSameMachine(before.machine, machine) ? before.sections : [];
  const sections = benches.flatMap(({ name }) =>
    name === section.bench ? [section] : kept.filter(({ bench }) => bench === name),
  );
  const data: Data = { machine, sections };
  writeFileSync(FILE, `${JSON.stringify(data, rounded, 2)}\n`);
  writeDocument(data);
}

/** Makes the document and the chart from data. */
function writeDocument(data: Data): void {
  writeFileSync(inRepository('docs/benchmarks.md'), documentOf(data));
  writeFileSync(inRepository('docs/benchmarks.svg'), chartOf(data));
}

/** Numbers are kept to six digits. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(6)) : value;
}

function isSameMachine(one: Machine, other: Machine): boolean {
  return ['processor', 'memory', 'file system'].every((fact) => one[fact] === other[fact]);
}
