import type { Import } from '../support/imports.js';

/** What each adapter connects to outside of the service. Adapters without an entry connect to nothing. */
const OUTSIDE: Readonly<Record<string, readonly string[]>> = {
  '/adapters/koa': ['clients'],
  '/adapters/ndjson': ['files'],
  '/adapters/management': ['Prometheus'],
  '/adapters/jwt': ['issuer'],
  '/adapters/knex': ['SQLite', 'PostgreSQL', 'MariaDB'],
};
const ENTRY = '/core/index';
const FRAME = '/composition';

const WIDTH = 880;
const BOX = 38;
const ROW = 56;
/** The middle and the width of the boxes in each column. */
const COLUMNS = { driving: [170, 116], useCases: [325, 118], ports: [489, 138], driven: [650, 116] } as const;
type Column = keyof typeof COLUMNS;
const GAPS: Readonly<Record<Column, number>> = { driving: ROW, useCases: 72, ports: 110, driven: ROW };

/** A part of the code: an adapter's folder, or a file of the core. */
interface Part {
  readonly name: string;
  readonly column: Column;
  readonly y: number;
}
type Edge = readonly [from: string, to: string];

/**
 * Draws the hexagon as an SVG image from the imports of the code. An adapter that imports a use case or serves HTTP is
 * placed on the driving side, any other on the driven side.
 *
 * @throws {Error} An import points outward, or composition leaves out an adapter.
 */
export function drawHexagon(imports: readonly Import[]): string {
  const edges = edgesIn(imports);
  const parts = [...new Set([...imports.map(({ from }) => partOf(from)), ...edges.flat()])].sort();
  const importers = (part: string) => edges.filter(([, to]) => to === part).length;
  // The port with most imports is the lowest, so that few arrows cross.
  const ports = parts.filter((part) => part.startsWith('/core/ports/')).sort((a, b) => importers(a) - importers(b));
  const importsAny = (part: string, targets: readonly string[]) =>
    edges.some(([from, to]) => from === part && targets.includes(to));
  const useCases = parts.filter((part) => isCore(part) && part !== ENTRY && importsAny(part, ports));
  const adapters = parts.filter((part) => part.startsWith('/adapters/'));
  const servesHttp = (part: string) => imports.some(({ from, to }) => partOf(from) === part && to === 'node:http');
  const isDriving = (part: string) => importsAny(part, useCases) || servesHttp(part);

  const outward = edges.filter(([from, to]) => to === FRAME || (isCore(from) && !isCore(to)));
  const notWired = adapters.filter((part) => !importsAny(FRAME, [part]));
  const problems = [
    ...outward.map(([from, to]) => `${from} must not import ${to}`),
    ...notWired.map((part) => `composition does not import ${part}`),
    ...Object.keys(OUTSIDE).flatMap((part) =>
      adapters.includes(part) ? [] : [`OUTSIDE names ${part}: no such folder`],
    ),
  ];
  if (problems.length > 0) throw new Error(problems.join('\n'));

  const inCore = [...place('useCases', useCases, 0), ...place('ports', ports, 0)];
  // Place an adapter beside its imports, and an adapter that others share between those.
  const height = (part: string): number => {
    const sharedBy = isDriving(part) ? adapters.filter((other) => isDriving(other) && importsAny(other, [part])) : [];
    const targets = inCore.filter(({ name }) => importsAny(part, [name]));
    return mean(sharedBy.length > 0 ? sharedBy.map(height) : targets.map(({ y }) => y));
  };
  const sorted = [...adapters].sort((a, b) => height(a) - height(b));
  const driving = sorted.filter(isDriving);
  const driven = sorted.filter((part) => !isDriving(part));
  const middle = 130 + (Math.max(driving.length, driven.length, 5) * ROW) / 2;
  const boxes = [
    ...place('driving', driving, middle),
    ...place('driven', driven, middle),
    ...inCore.map((part) => ({ ...part, y: part.y + middle })),
  ];
  const drawn = edges.filter((edge) => edge.every((end) => boxes.some(({ name }) => name === end)));
  return drawing(boxes, drawn, middle);
}

/** Every import from one part to another, once and in order; an import from `core/index.ts` leads to the file behind it. */
function edgesIn(imports: readonly Import[]): Edge[] {
  const exported = imports.filter(({ from }) => partOf(from) === ENTRY);
  const edges = imports
    .filter(({ from, to }) => partOf(from) !== ENTRY && to.startsWith('/'))
    .flatMap(({ from, to, names }): Edge[] => {
      const sources = to === ENTRY ? exported.filter((file) => file.names.some((name) => names.includes(name))) : [];
      const targets = sources.length > 0 ? sources.map((file) => file.to) : [to];
      return targets.map((target) => [partOf(from), partOf(target)]);
    });
  const distinct = new Map(edges.filter(([from, to]) => from !== to).map((edge) => [edge.join(), edge]));
  return [...distinct].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, edge]) => edge);
}

/** `/adapters/koa` for `/adapters/koa/router.ts`, `/core/ports/token-verifier` for a port, `/composition` for its files. */
function partOf(file: string): string {
  const path = file.replace(/\.ts$/, '');
  if (path.startsWith(`${FRAME}/`)) return FRAME;
  return isCore(path) ? path : path.split('/').slice(0, 3).join('/');
}

function isCore(part: string): boolean {
  return part.startsWith('/core/');
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
}

/** Stacks parts in a column around a middle. */
function place(column: Column, names: readonly string[], middle: number): Part[] {
  return names.map((name, index) => ({ name, column, y: middle + (index - (names.length - 1) / 2) * GAPS[column] }));
}

/** `CreatePlant` for a file of the core, the name of the folder for an adapter. */
function labelOf(part: string): string {
  const name = part.split('/').at(-1) ?? '';
  return isCore(part) ? name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase()) : name;
}

/** The styles for a light background, then the differences for a dark one. */
const STYLE = `
  text { font: 16px system-ui, sans-serif; fill: #1f2328; text-anchor: middle }
  .title { font-weight: 600; font-size: 18px } .quiet { fill: #59636e; font-size: 15px }
  .start { text-anchor: start } .end { text-anchor: end }
  .paper { fill: #ffffff } .frame { fill: #f6f8fa; stroke: #c8d1da; stroke-width: 1.5 }
  .core { fill: #dafbe1; stroke: #1a7f37; stroke-width: 3; stroke-linejoin: round }
  .adapter { fill: #ffffff; stroke: #c8d1da; stroke-width: 1.5 } .port { fill: #ffffff; stroke: #1a7f37; stroke-width: 2 }
  .use-case { fill: #1a7f37 } .use-case-label { fill: #ffffff; font-weight: 600 }
  .arrow { fill: none; stroke: #1f2328; stroke-width: 1.6 } .head { fill: #1f2328 }
  .line { fill: none; stroke: #59636e; stroke-width: 1.5; stroke-dasharray: 4 4 }
  @media (prefers-color-scheme: dark) {
    text, .head { fill: #e6edf3 } .arrow { stroke: #e6edf3 } .quiet { fill: #9198a1 } .line { stroke: #9198a1 }
    .paper, .adapter, .port { fill: #0d1117 } .frame { fill: #151b23 } .frame, .adapter { stroke: #3d444d }
    .core { fill: #12311f; stroke: #3fb950 } .port { stroke: #3fb950 } .use-case { fill: #3fb950 } .use-case-label { fill: #0d1117 }
  }`;

function drawing(parts: readonly Part[], edges: readonly Edge[], middle: number): string {
  const half = middle - 92;
  const height = middle + half + 40;
  const lowest = (column: Column) => Math.max(...parts.filter((part) => part.column === column).map(({ y }) => y));
  const sentences = edges.map((edge) => edge.map((part) => part.split('/').at(-1)).join(' imports '));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-30 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title description">`,
    '<title id="title">The hexagon: adapters around a core, wired by composition</title>',
    `<desc id="description">Composition imports every adapter; ${sentences.join(', ')}.</desc>`,
    `<style>${STYLE}\n</style>`,
    '<marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="6" markerHeight="6" orient="auto"><path class="head" d="M0 0L10 5L0 10Z"/></marker>',
    `<rect class="paper" x="-30" width="${WIDTH}" height="${height}" rx="6"/>`,
    `<rect class="frame" x="98" y="14" width="624" height="${height - 28}" rx="14"/>`,
    `<path class="core" d="M410 ${middle - half}L568 ${middle - half + 91}V${middle + half - 91}L410 ${middle + half}L252 ${middle + half - 91}V${middle - half + 91}Z"/>`,
    text('title', 410, 44, 'composition'),
    text('quiet', 410, 66, 'wires every adapter'),
    text('title', COLUMNS.driving[0], 104, 'driving'),
    text('title', COLUMNS.driven[0], 104, 'driven'),
    text('title', 410, middle - half + 46, 'core'),
    text('quiet', 410, middle - half + 67, 'no dependency'),
    text('quiet', COLUMNS.useCases[0], lowest('useCases') + 62, 'use cases'),
    text('quiet', COLUMNS.ports[0], lowest('ports') + 42, 'ports'),
    text('', 410, middle + half - 32, 'Plant'),
    ...parts.flatMap(outside),
    ...arrows(parts, edges, middle + half + 12),
    ...parts.flatMap(box),
    '</svg>',
    '',
  ].join('\n');
}

function text(kind: string, x: number, baseline: number, words: string): string {
  return `<text${kind && ` class="${kind}"`} x="${x}" y="${baseline}">${words}</text>`;
}

function box({ name, column, y }: Part): string[] {
  const [x, width] = COLUMNS[column];
  const kind = column === 'useCases' ? 'use-case' : column === 'ports' ? 'port' : 'adapter';
  const corner = `x="${x - width / 2}" y="${y - BOX / 2}"`;
  return [
    `<rect class="${kind}" ${corner} width="${width}" height="${BOX}" rx="${kind === 'port' ? BOX / 2 : 6}"/>`,
    text(kind === 'use-case' ? 'use-case-label' : '', x, y + 5, labelOf(name)),
  ];
}

/** The dashed line from an adapter to what it connects to, and the names of that. */
function outside({ name, column, y }: Part): string[] {
  const labels = OUTSIDE[name] ?? [];
  const side = column === 'driving' ? -1 : 1;
  const start = COLUMNS[column][0] + (side * COLUMNS[column][1]) / 2;
  const label = start + side * 24;
  const rows = labels.map((_, index) => y + (index - (labels.length - 1) / 2) * 22);
  return labels.flatMap((words, index) => [
    `<path class="line" d="M${start} ${y}L${label - side * 4} ${rows[index]}"/>`,
    text(side < 0 ? 'end' : 'start', label, (rows[index] ?? y) + 5, words),
  ]);
}

/** An arrow for each edge. The ends at one side of a box are spread in the order of where they lead. */
function arrows(parts: readonly Part[], edges: readonly Edge[], below: number): string[] {
  const find = (name: string) => parts.filter((part) => part.name === name);
  const pairs = edges.flatMap(([from, to]) => find(from).flatMap((a) => find(to).map((b) => [a, b] as const)));
  const leftToRight = (a: Part, b: Part) => Math.sign(COLUMNS[b.column][0] - COLUMNS[a.column][0]);
  const end = (part: Part, other: Part): [x: number, y: number] => {
    const side = leftToRight(part, other);
    const others = pairs
      .flatMap(([a, b]) => (a === part ? [b] : b === part ? [a] : []))
      .filter((candidate) => leftToRight(part, candidate) === side)
      .sort((a, b) => a.y - b.y);
    const offset = others.indexOf(other) - (others.length - 1) / 2;
    const [x, width] = COLUMNS[part.column];
    return [x + (side * width) / 2, part.y + offset * Math.min(12, 28 / others.length)];
  };
  const useCases = parts.filter(({ column }) => column === 'useCases').map(({ y }) => y);
  const lanes = [Math.min(...useCases) - BOX / 2 - 15, Math.max(...useCases) + BOX / 2 + 15] as const;

  return pairs.map(([a, b]) => {
    if (a.column === b.column) {
      const down = Math.sign(b.y - a.y);
      return arrow(`M${COLUMNS[a.column][0]} ${a.y + (down * BOX) / 2}V${b.y - (down * BOX) / 2}`);
    }
    const [start, finish] = [end(a, b), end(b, a)];
    if (a.column !== 'driving' || b.column === 'useCases') return arrow(`M${start.join(' ')}${curve(start, finish)}`);
    // Past the use cases on the way to a port, and below the core on the way to the other side.
    const toPort = b.column === 'ports';
    const lane = !toPort ? below : b.y < (lanes[0] + lanes[1]) / 2 ? lanes[0] : lanes[1];
    const [left, right] = toPort ? [266, 376] : [290, 530];
    return arrow(`M${start.join(' ')}${curve(start, [left, lane])}H${right}${curve([right, lane], finish)}`);
  });
}

function arrow(path: string): string {
  return `<path class="arrow" d="${path}" marker-end="url(#head)"/>`;
}

function curve([x1, y1]: readonly [number, number], [x2, y2]: readonly [number, number]): string {
  const x = (x1 + x2) / 2;
  return `C${x} ${y1} ${x} ${y2} ${x2} ${y2}`;
}
