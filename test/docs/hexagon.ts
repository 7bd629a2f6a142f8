import type { Import } from '../support/imports.js';

/** The middle of a box, how wide it is, and what stands in it. */
interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly label: string;
}

const WIDTH = 744;
const HEIGHT = 576;
const BOX_HEIGHT = 38;

const DRIVING = { x: 130, width: 116 };
const DRIVEN = { x: 614, width: 116 };
const USE_CASE = { x: 285, width: 118 };
const PORT = { x: 449, width: 138 };

/** Where each part of the code stands. */
const BOXES: Readonly<Record<string, Box>> = {
  '/adapters/koa': { ...DRIVING, y: 166, label: 'koa' },
  '/adapters/wire': { ...DRIVING, y: 238, label: 'wire' },
  '/adapters/ndjson': { ...DRIVING, y: 310, label: 'ndjson' },
  '/adapters/management': { ...DRIVING, y: 442, label: 'management' },
  '/core/create-plant': { ...USE_CASE, y: 238, label: 'CreatePlant' },
  '/core/read-plants': { ...USE_CASE, y: 310, label: 'ReadPlants' },
  '/core/token-verifier': { ...PORT, y: 204, label: 'TokenVerifier' },
  '/core/plant-repository': { ...PORT, y: 324, label: 'PlantRepository' },
  '/adapters/static-token': { ...DRIVEN, y: 166, label: 'static-token' },
  '/adapters/jwt': { ...DRIVEN, y: 226, label: 'jwt' },
  '/adapters/batching': { ...DRIVEN, y: 294, label: 'batching' },
  '/adapters/memory': { ...DRIVEN, y: 354, label: 'memory' },
  '/adapters/knex': { ...DRIVEN, y: 442, label: 'knex' },
};

/** What stands in the core beside its use cases and ports; everything imports it, so that no arrows lead there. */
const SHARED = ['/core/plant', '/core/errors'];

/** The face of the core: what is imported from here comes from one of the files beside it. */
const FACE = '/core/index';

/** What imports every adapter, which a frame says rather than arrows. */
const FRAME = '/composition';

/** Each import that is drawn: how far from the middle of its first and its second box the arrow begins and ends. */
const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  '/adapters/koa → /adapters/wire': [0, 0],
  '/adapters/koa → /core/create-plant': [8, -12],
  '/adapters/koa → /core/token-verifier': [-8, 0],
  '/adapters/wire → /core/create-plant': [0, 0],
  '/adapters/ndjson → /adapters/wire': [0, 0],
  '/adapters/ndjson → /core/create-plant': [-8, 12],
  '/adapters/ndjson → /core/read-plants': [0, 0],
  '/adapters/management → /core/plant-repository': [0, 12],
  '/core/create-plant → /core/plant-repository': [0, -12],
  '/core/read-plants → /core/plant-repository': [0, 0],
  '/adapters/static-token → /core/token-verifier': [0, -7],
  '/adapters/jwt → /core/token-verifier': [0, 7],
  '/adapters/batching → /core/plant-repository': [0, -12],
  '/adapters/memory → /core/plant-repository': [0, 0],
  '/adapters/knex → /core/plant-repository': [0, 12],
};

/** Who is outside, where, and the line to the adapter that speaks with them. */
const ACTORS = [
  { label: 'client', x: 28, y: 166, line: 'M54 166H72' },
  { label: 'files', x: 28, y: 310, line: 'M50 310H72' },
  { label: 'Prometheus', x: 130, y: 548, line: 'M130 461V532' },
  { label: 'issuer', x: 718, y: 226, line: 'M672 226H689' },
  { label: 'SQLite', x: 530, y: 548, line: 'M614 461C614 500 530 490 530 532' },
  { label: 'PostgreSQL', x: 614, y: 548, line: 'M614 461V532' },
  { label: 'MariaDB', x: 703, y: 548, line: 'M614 461C614 500 703 490 703 532' },
];

const STYLE = `
  svg { --paper: #ffffff; --room: #f6f8fa; --box: #ffffff; --edge: #c8d1da; --text: #1f2328; --quiet: #59636e;
    --core: #dafbe1; --rim: #1a7f37; --on-rim: #ffffff }
  @media (prefers-color-scheme: dark) {
    svg { --paper: #0d1117; --room: #151b23; --box: #0d1117; --edge: #3d444d; --text: #e6edf3; --quiet: #9198a1;
      --core: #12311f; --rim: #3fb950; --on-rim: #0d1117 }
  }
  text { font: 16px system-ui, sans-serif; fill: var(--text); text-anchor: middle }
  .title { font-weight: 600; font-size: 18px } .quiet { fill: var(--quiet); font-size: 15px }
  .paper { fill: var(--paper) } .room { fill: var(--room); stroke: var(--edge); stroke-width: 1.5 }
  .core { fill: var(--core); stroke: var(--rim); stroke-width: 3; stroke-linejoin: round }
  .box { fill: var(--box); stroke: var(--edge); stroke-width: 1.5 } .port { fill: var(--box); stroke: var(--rim); stroke-width: 2 }
  .use-case { fill: var(--rim) } .use-case + text { fill: var(--on-rim); font-weight: 600 }
  .arrow { fill: none; stroke: var(--text); stroke-width: 1.6 } .head { fill: var(--text) }
  .line { fill: none; stroke: var(--quiet); stroke-width: 1.5; stroke-dasharray: 4 4 }`;

/**
 * The hexagon as an SVG image, light or dark as whoever looks at it prefers. Places are fixed, arrows are the imports.
 *
 * @throws where the code has a part or an import that the drawing does not know, or lacks one that it shows
 */
export function hexagonOf(imports: readonly Import[]): string {
  const edges = edgesOf(imports);
  const arrows = edges.filter(([from, to]) => from !== FRAME && !SHARED.includes(to)).map((edge) => edge.join(' → '));
  const importing = imports.map(({ from }) => partOf(from.replace(/\.ts$/, '')));
  const parts = [...importing, ...edges.flat()].filter((part) => part !== FRAME && part !== FACE);
  const wired = edges.filter(([from]) => from === FRAME).map(([, to]) => to);
  const problems = [
    ...differences('has no place for', parts, [...Object.keys(BOXES), ...SHARED]),
    ...differences('shows what is not there:', Object.keys(BOXES), parts),
    ...differences('has no arrow for', arrows, Object.keys(ARROWS)),
    ...differences('shows an import that is not there:', Object.keys(ARROWS), arrows),
    ...differences('has composition wire', Object.keys(BOXES).filter(isAdapter), wired),
  ];
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return drawing();
}

/** Each import from one part to another, once: parts are the folders of adapters, composition, and the files of the core. */
function edgesOf(imports: readonly Import[]): readonly (readonly [string, string])[] {
  const exported = imports.filter(({ from }) => from === `${FACE}.ts`);
  const edges = imports
    .filter(({ from, to }) => from !== `${FACE}.ts` && to.startsWith('/'))
    .flatMap(({ from, to, names }) => {
      const sources = to === FACE ? exported.filter((file) => file.names.some((name) => names.includes(name))) : [];
      const targets = sources.length > 0 ? sources.map((file) => file.to) : [to];
      return targets.map((target) => [partOf(from.replace(/\.ts$/, '')), partOf(target)] as const);
    })
    .filter(([from, to]) => from !== to);
  return [...new Map(edges.map((edge) => [edge.join(), edge])).values()];
}

/** `/adapters/koa` of `/adapters/koa/router`, `/composition` of `/composition/commands/serve`. */
function partOf(file: string): string {
  return file.startsWith(`${FRAME}/`) ? FRAME : file.split('/').slice(0, 3).join('/');
}

function isAdapter(part: string): boolean {
  return part.startsWith('/adapters/');
}

function differences(what: string, these: readonly string[], those: readonly string[]): string[] {
  const missing = new Set(these.filter((name) => !those.includes(name)));
  return [...missing].map((name) => `the hexagon ${what} ${name}; mend test/docs/hexagon.ts`);
}

function drawing(): string {
  const sentences = Object.keys(ARROWS).map((name) => name.replaceAll(/\/\w+\//g, '').replace('→', 'imports'));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title description">`,
    '<title id="title">The hexagon: adapters around a core, wired by composition</title>',
    `<desc id="description">Composition imports every adapter; ${sentences.join(', ')}.</desc>`,
    `<style>${STYLE}\n</style>`,
    '<marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="6" markerHeight="6" orient="auto"><path class="head" d="M0 0L10 5L0 10Z"/></marker>',
    `<rect class="paper" width="${WIDTH}" height="${HEIGHT}" rx="6"/>`,
    '<rect class="room" x="62" y="16" width="620" height="492" rx="14"/>',
    '<path class="core" d="M372 88L530 179V361L372 452L214 361V179Z"/>',
    text('title', 372, 46, 'composition'),
    text('quiet', 372, 67, 'wires all of it'),
    text('title', DRIVING.x, 134, 'driving'),
    text('title', DRIVEN.x, 134, 'driven'),
    text('title', 372, 132, 'core'),
    text('quiet', 372, 153, 'no dependency'),
    text('quiet', USE_CASE.x, 349, 'use cases'),
    text('quiet', PORT.x, 363, 'ports'),
    text('', 372, 422, 'Plant'),
    ...ACTORS.map(({ line }) => `<path class="line" d="${line}"/>`),
    ...Object.entries(ARROWS).map(arrow),
    ...Object.entries(BOXES).map(box),
    ...ACTORS.map(({ label, x, y }) => text('', x, y + 5, label)),
    '</svg>',
    '',
  ].join('\n');
}

function text(kind: string, x: number, baseline: number, words: string): string {
  return `<text${kind && ` class="${kind}"`} x="${x}" y="${baseline}">${words}</text>`;
}

function box([part, { x, y, width, label }]: [string, Box]): string {
  const [kind, radius] = isAdapter(part) ? ['box', 6] : x === USE_CASE.x ? ['use-case', 6] : ['port', BOX_HEIGHT / 2];
  const corner = `x="${x - width / 2}" y="${y - BOX_HEIGHT / 2}"`;
  return `<rect class="${kind}" ${corner} width="${width}" height="${BOX_HEIGHT}" rx="${radius}"/>${text('', x, y + 5, label)}`;
}

/** From one box to another: straight down or up, or in a curve from side to side. */
function arrow([name, [start, end]]: [string, readonly [number, number]]): string {
  const [from, to] = name.split(' → ').map((part) => BOXES[part]);
  if (from === undefined || to === undefined) throw new Error(`the hexagon has an arrow between no boxes: ${name}`);
  const path = from.x === to.x ? vertical(from, to) : horizontal(from, to, start, end);
  return `<path class="arrow" d="${path}" marker-end="url(#head)"/>`;
}

function vertical(from: Box, to: Box): string {
  const half = (Math.sign(to.y - from.y) * BOX_HEIGHT) / 2;
  return `M${from.x} ${from.y + half}V${to.y - half}`;
}

function horizontal(from: Box, to: Box, start: number, end: number): string {
  const side = Math.sign(to.x - from.x);
  const [x1, x2] = [from.x + (side * from.width) / 2, to.x - (side * to.width) / 2];
  const [y1, y2] = [from.y + start, to.y + end];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}
