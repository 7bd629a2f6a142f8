import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { inRepository } from '../../support/paths.js';
import { benches } from '../benches/index.js';
import type { Section } from '../harness/bench.js';
import type { Machine } from '../harness/machine.js';
import { chartOf } from './chart.js';
import { generateDocument } from './document.js';

/** Contents of `docs/benchmarks.json`: the latest section of each benchmark, all from one machine. */
export interface Data {
  readonly machine: Machine;
  readonly sections: readonly StoredSection[];
}

export interface StoredSection extends Section {
  /** Name of the benchmark. */
  readonly bench: string;
  /** Date of the measurement, as YYYY-MM-DD. */
  readonly date: string;
}

const FILE = inRepository('docs/benchmarks.json');

/** Replaces a section of the data, and regenerates the document and the chart. */
export function store(section: StoredSection, machine: Machine): void {
  const before: Data = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : { machine, sections: [] };
  // Figures from different machines are not comparable.
  const kept = isSameMachine(before.machine, machine) ? before.sections : [];
  const sections = benches.flatMap(({ name }) =>
    name === section.bench ? [section] : kept.filter(({ bench }) => bench === name),
  );
  const data: Data = { machine, sections };
  writeFileSync(FILE, `${JSON.stringify(data, rounded, 2)}\n`);
  writeDocument(data);
}

/** Generates the document and the chart. */
function writeDocument(data: Data): void {
  writeFileSync(inRepository('docs/benchmarks.md'), generateDocument(data));
  writeFileSync(inRepository('docs/benchmarks.svg'), chartOf(data));
}

/** Rounds numbers to six significant digits. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(6)) : value;
}

function isSameMachine(one: Machine, other: Machine): boolean {
  return ['processor', 'memory', 'file system'].every((fact) => one[fact] === other[fact]);
}
