import { median } from '../harness/statistics.js';
import { type Data, number, type Row } from './document.js';

/** Benchmarks in the chart. */
const DRAWN = ['sqlite', 'postgres', 'mariadb'];

const WIDTH = 820;
const MARGIN = 16;
const LABEL_WIDTH = 300;
const VALUE_WIDTH = 130;
const BAR_HEIGHT = 18;
const ROW_HEIGHT = 26;
const TITLE_HEIGHT = 38;
const HEAD_HEIGHT = 34;

const STYLE = `
  svg { --paper: #ffffff; --text: #1f2328; --quiet: #59636e; --ours: #1a7f37; --other: #8c959f; --line: #1f2328 }
  @media (prefers-color-scheme: dark) {
    svg { --paper: #0d1117; --text: #e6edf3; --quiet: #9198a1; --ours: #3fb950; --other: #656c76; --line: #e6edf3 }
  }
  text { font: 13px system-ui, sans-serif; fill: var(--text) }
  .title { font-weight: 600; font-size: 15px } .quiet { fill: var(--quiet) } .ours { font-weight: 600 }
  .paper { fill: var(--paper) } .bar { fill: var(--other) } .bar.ours { fill: var(--ours) }
  .spread { stroke: var(--line); stroke-width: 1.5 } .grid { stroke: var(--other); stroke-opacity: 0.3 }
  .line { fill: none; stroke: var(--other); stroke-width: 2 } .line.ours { stroke: var(--ours); stroke-width: 3 }`;

/** Draws the rates as bars, with the spread of the rounds, in the preferred colour scheme of the viewer. */
export function chartOf({ sections }: Data): string {
  const groups = sections
    .filter(({ bench }) => DRAWN.includes(bench))
    .map(({ title, tables }) => ({ title, rows: tables.flatMap(({ rows }) => rows) }));
  const maxRate = Math.max(1, ...groups.flatMap(({ rows }) => rows.flatMap(({ cells }) => cells['rate'] ?? [])));
  const parts: string[] = [];
  let y = HEAD_HEIGHT;
  for (const { title, rows } of groups) {
    y += TITLE_HEIGHT;
    parts.push(`<text class="title" x="${MARGIN}" y="${y - 12}">${title}</text>`);
    for (const row of rows) {
      parts.push(barOf(row, y, (WIDTH - LABEL_WIDTH - VALUE_WIDTH) / maxRate));
      y += ROW_HEIGHT;
    }
  }
  const caption = 'Requests per second: median of the rounds, with their range as a line. Higher is better.';
  return svgOf('Requests per second of each program', caption, y + MARGIN, parts);
}

/** Draws a line for each program: its rate by the number of clients, on a logarithmic axis. */
export function clientsChartOf({ sections }: Data): string {
  const [table] = sections.find(({ bench }) => bench === 'clients')?.tables ?? [];
  const { columns = [], rows = [] } = table ?? {};
  const [top, bottom, left, right] = [HEAD_HEIGHT + 24, 380, 64, WIDTH - 210];
  const lines = rows.map(({ name, cells }) => ({ name, rates: columns.map(({ key }) => median(cells[key] ?? [0])) }));
  const step = 10 ** Math.floor(Math.log10(Math.max(1, ...lines.flatMap(({ rates }) => rates))));
  const highest = Math.ceil(Math.max(1, ...lines.flatMap(({ rates }) => rates)) / step) * step;
  const xOf = (column: number) => left + (column * (right - left)) / Math.max(1, columns.length - 1);
  const yOf = (rate: number) => bottom - (rate / highest) * (bottom - top);
  const grid = Array.from({ length: highest / step + 1 }, (_, index) => index * step).map((rate) =>
    [
      `<line class="grid" x1="${left}" x2="${right}" y1="${yOf(rate).toFixed(1)}" y2="${yOf(rate).toFixed(1)}"/>`,
      `<text class="quiet" x="${left - 8}" y="${(yOf(rate) + 4).toFixed(1)}" text-anchor="end">${number(rate, 0)}</text>`,
    ].join(''),
  );
  const axis = columns.map(
    ({ title }, column) =>
      `<text class="quiet" x="${xOf(column)}" y="${bottom + 22}" text-anchor="middle">${title}</text>`,
  );
  let lowestLabel = Infinity;
  const drawn = lines
    .toSorted((a, b) => (a.rates.at(-1) ?? 0) - (b.rates.at(-1) ?? 0))
    .map(({ name, rates }) => {
      const kind = name.startsWith('Plant Store') ? ' ours' : '';
      const points = rates.map((rate, column) => `${xOf(column).toFixed(1)},${yOf(rate).toFixed(1)}`);
      // Labels are one line apart, from the lowest upwards.
      lowestLabel = Math.min(yOf(rates.at(-1) ?? 0) + 4, lowestLabel - 17);
      return [
        `<polyline class="line${kind}" points="${points.join(' ')}"/>`,
        `<text class="label${kind}" x="${right + 10}" y="${lowestLabel.toFixed(1)}">${name}</text>`,
      ].join('');
    });
  const caption = 'Requests per second by number of clients, all on SQLite: median of the rounds. Higher is better.';
  return svgOf('Requests per second by number of clients', caption, bottom + 40, [...grid, ...axis, ...drawn]);
}

function svgOf(title: string, caption: string, height: number, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${title}</title>`,
    `<style>${STYLE}\n</style>`,
    `<rect class="paper" width="${WIDTH}" height="${height}" rx="6"/>`,
    `<text class="quiet" x="${MARGIN}" y="26">${caption}</text>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

function barOf({ name, cells: { rate: rates = [] } }: Row, y: number, pixelsPerRequest: number): string {
  const kind = name.startsWith('Plant Store') ? ' ours' : '';
  const baseline = y + 14;
  const x = (rate: number) => (LABEL_WIDTH + rate * pixelsPerRequest).toFixed(1);
  const [width, middle] = [(median(rates) * pixelsPerRequest).toFixed(1), y + BAR_HEIGHT / 2];
  const end = LABEL_WIDTH + Math.max(...rates) * pixelsPerRequest + 8;
  return [
    `<text class="label${kind}" x="${LABEL_WIDTH - 10}" y="${baseline}" text-anchor="end">${name}</text>`,
    `<rect class="bar${kind}" x="${LABEL_WIDTH}" y="${y}" width="${width}" height="${BAR_HEIGHT}" rx="2"/>`,
    `<line class="spread" x1="${x(Math.min(...rates))}" x2="${x(Math.max(...rates))}" y1="${middle}" y2="${middle}"/>`,
    `<text class="value${kind}" x="${end.toFixed(1)}" y="${baseline}">${number(median(rates), 0)}</text>`,
  ].join('');
}
