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
  .spread { stroke: var(--line); stroke-width: 1.5 }`;

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
  const height = y + MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    '<title>Requests per second of each program</title>',
    `<style>${STYLE}\n</style>`,
    `<rect class="paper" width="${WIDTH}" height="${height}" rx="6"/>`,
    `<text class="quiet" x="${MARGIN}" y="26">Requests per second: median of the rounds, with their range as a line. Higher is better.</text>`,
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
