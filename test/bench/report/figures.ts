import type { Ratio, Row } from '../harness/bench.js';
import { median } from '../harness/statistics.js';

/** A number with thin groups of three digits: `12 345.6`. */
export function number(value: number, digits: number): string {
  const [whole = '', fraction] = Math.abs(value).toFixed(digits).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, '\u202f');
  return `${value < 0 ? '−' : ''}${grouped}${fraction === undefined ? '' : `.${fraction}`}`;
}

/** The median of samples, and their spread where there are several. */
export function spread(samples: readonly number[], digits: number): string {
  const middle = number(median(samples), digits);
  if (samples.length === 1) return middle;
  return `${middle} (${number(Math.min(...samples), digits)}–${number(Math.max(...samples), digits)})`;
}

/** One figure of a row; nothing where its run was refused. */
export function cell(row: Row, key: string, digits: number): string {
  if (row.refused !== undefined) return 'refused';
  const samples = row.cells[key];
  return samples === undefined || samples.length === 0 ? '–' : spread(samples, digits);
}

/** What is asked of a ratio, and what came of it. */
export function target({ atLeast, atMost, unit = '' }: Ratio): string {
  if (atLeast !== undefined) return `≥ ${number(atLeast, digitsOf(atLeast))}${unit}`;
  if (atMost !== undefined) return `≤ ${number(atMost, digitsOf(atMost))}${unit}`;
  return '–';
}

/** Whether the median reaches the target; `undefined` where there is none, or no figure. */
export function isReached({ samples, atLeast, atMost, refused }: Ratio): boolean | undefined {
  if (refused !== undefined || samples.length === 0) return undefined;
  const figure = median(samples);
  if (atLeast !== undefined) return figure >= atLeast;
  if (atMost !== undefined) return figure <= atMost;
  return undefined;
}

/** The figure of a ratio, with its spread. */
export function figure({ samples, refused, unit = '' }: Ratio): string {
  if (refused !== undefined) return `refused: ${refused}`;
  if (samples.length === 0) return 'not measured';
  return `${spread(samples, median(samples) >= 1000 ? 0 : 3)}${unit}`;
}

function digitsOf(value: number): number {
  return value >= 1000 ? 0 : 2;
}
