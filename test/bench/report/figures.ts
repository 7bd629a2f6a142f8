import type { Ratio, Row } from '../harness/bench.js';
import { median } from '../harness/statistics.js';

/** Formats a number with commas between groups of three digits: `12,345.6`. */
export function number(value: number, digits: number): string {
  const [whole = '', fraction] = Math.abs(value).toFixed(digits).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return `${value < 0 ? '−' : ''}${grouped}${fraction === undefined ? '' : `.${fraction}`}`;
}

/** Formats the median of samples, with their range if there are several. */
export function spread(samples: readonly number[], digits: number): string {
  const middle = number(median(samples), digits);
  if (samples.length === 1) return middle;
  return `${middle} (${number(Math.min(...samples), digits)}–${number(Math.max(...samples), digits)})`;
}

/** Formats one figure of a row, or `invalid` if its run was invalid. */
export function cell(row: Row, key: string, digits: number): string {
  if (row.invalidReason !== undefined) return 'invalid';
  const samples = row.cells[key];
  return samples === undefined || samples.length === 0 ? '–' : spread(samples, digits);
}

/** Formats the target of a ratio. */
export function target({ atLeast, atMost, unit = '' }: Ratio): string {
  if (atLeast !== undefined) return `≥ ${number(atLeast, digitsOf(atLeast))}${unit}`;
  if (atMost !== undefined) return `≤ ${number(atMost, digitsOf(atMost))}${unit}`;
  return '–';
}

/** Returns whether the median meets the target; `undefined` without a target or a valid figure. */
export function isMet({ samples, atLeast, atMost, invalidReason }: Ratio): boolean | undefined {
  if (invalidReason !== undefined || samples.length === 0) return undefined;
  const figure = median(samples);
  if (atLeast !== undefined) return figure >= atLeast;
  if (atMost !== undefined) return figure <= atMost;
  return undefined;
}

/** Formats the figure of a ratio, with its range. */
export function figure({ samples, invalidReason, unit = '' }: Ratio): string {
  if (invalidReason !== undefined) return `invalid: ${invalidReason}`;
  if (samples.length === 0) return 'not measured';
  return `${spread(samples, median(samples) >= 1000 ? 0 : 3)}${unit}`;
}

function digitsOf(value: number): number {
  return value >= 1000 ? 0 : 2;
}
