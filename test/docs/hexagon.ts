import { Graphviz } from '@hpcc-js/wasm-graphviz';
import type { Import } from './imports.js';

/** What each adapter connects to outside the service. Adapters without an entry connect to nothing. */
const OUTSIDE: Readonly<Record<string, string>> = {
  '/adapters/driving/koa': 'clients',
  '/adapters/driving/ndjson': 'files',
  '/adapters/driving/management': 'Prometheus',
  '/adapters/driven/jwt': 'issuer',
  '/adapters/driven/knex': 'SQLite\nPostgreSQL\nMariaDB',
};
const TITLE = 'The hexagon: adapters around a core, wired by composition';
const ENTRY = '/core/index';
const FRAME = '/composition';

/** The styles for a light background, then the differences for a dark one. */
const STYLE = `
  text { font: 14px system-ui, sans-serif; fill: #1f2328 } .cluster > text { font-size: 16px; font-weight: 600 }
  .graph > polygon { fill: #ffffff } .frame > path { fill: #f6f8fa; stroke: #c8d1da }
  .core > polygon { fill: #dafbe1; stroke: #1a7f37; stroke-width: 2.5; stroke-linejoin: round }
  .adapter path { fill: #ffffff; stroke: #c8d1da } .port path { fill: #ffffff; stroke: #1a7f37; stroke-width: 1.5 }
  .use-case path { fill: #1a7f37; stroke: #1a7f37 } .use-case text { fill: #ffffff; font-weight: 600 }
  .edge path { stroke: #1f2328 } .edge polygon { fill: #1f2328; stroke: #1f2328 } .outside path { stroke: #59636e }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .graph > polygon, .adapter path, .port path { fill: #0d1117 }
    .frame > path { fill: #151b23; stroke: #3d444d } .core > polygon { fill: #12311f; stroke: #3fb950 }
    .adapter path { stroke: #3d444d } .port path, .use-case path { stroke: #3fb950 } .use-case path { fill: #3fb950 }
    .use-case text { fill: #0d1117 } .edge path, .edge polygon { stroke: #e6edf3 } .edge polygon { fill: #e6edf3 }
  }`;

type Edge = readonly [from: string, to: string];

/** Draws the hexagon as an SVG image from the imports of the code, which obey the dependency rule. */
export async function drawHexagon(imports: readonly Import[]): Promise<string> {
  const edges = edgesIn(imports);
  const parts = [...new Set([...imports.map(({ from }) => partOf(from)), ...edges.flat()])].sort();
  const importsAny = (part: string, targets: readonly string[]) =>
    edges.some(([from, to]) => from === part && targets.includes(to));
  const ports = parts.filter((part) => part.startsWith('/core/ports/'));
  const useCases = parts.filter(
    (part) => isCore(part) && part !== ENTRY && importsAny(part, ports) && !ports.includes(part),
  );
  const adapters = parts.filter((part) => part.startsWith('/adapters/'));
  const drivesUseCase = (part: string) => importsAny(part, [...ports, '/adapters/driving/http']);
  // In this order, Graphviz crosses no arrows.
  const driving = adapters
    .filter((part) => isOn('driving', part))
    .sort((a, b) => Number(drivesUseCase(a)) - Number(drivesUseCase(b)));
  const driven = adapters.filter((part) => isOn('driven', part));
  const drivingPorts = ports.filter((part) => isOn('driving', part));
  const drivenPorts = ports.filter((part) => isOn('driven', part));

  const column = (name: string, label: 'top' | 'bottom', nodeClass: string, members: readonly string[]) =>
    `subgraph "cluster_${name}" {
      label="${name}"; labelloc=${label}; peripheries=0; rank=same; node [class="${nodeClass}"]
      ${members.map(toNode).join('; ')}
    }`;
  // Graphviz places the start of an edge to the left of its end.
  const boxes = [...adapters, ...useCases, ...ports];
  const arrows = edges
    .filter(([from, to]) => boxes.includes(from) && boxes.includes(to))
    .map(([from, to]) =>
      (driven.includes(from) && isCore(to)) || (useCases.includes(from) && drivingPorts.includes(to))
        ? `${toNode(to)} -> ${toNode(from)} [dir=back]`
        : `${toNode(from)} -> ${toNode(to)}`,
    );
  const outside = Object.entries(OUTSIDE).map(([part, names]) =>
    driving.includes(part) ? `"${names}" -> ${toNode(part)}` : `${toNode(part)} -> "${names}"`,
  );
  const graphviz = await Graphviz.load();
  const svg = graphviz.dot(`digraph hexagon {
    rankdir=LR; nodesep=0.25; ranksep=0.5; fontname=Helvetica; newrank=true
    node [shape=box; style=rounded; fontname=Helvetica; height=0.45; width=1.35; margin="0.15,0"]
    edge [arrowsize=0.8]
    subgraph cluster_composition { label="composition"; class=frame; style=rounded; margin=16
      ${column('driving', 'top', 'adapter', driving)}
      ${column('driven', 'top', 'adapter', driven)}
      subgraph cluster_core { label="core"; class=core; style=solid; margin=14
        ${column('driving ports', 'bottom', 'port', drivingPorts)}
        ${column('use cases', 'bottom', 'use-case', useCases)}
        ${column('driven ports', 'bottom', 'port', drivenPorts)}
      }
    }
    ${arrows.join('\n')}
    node [shape=plaintext; width=0]; edge [dir=none; style=dashed; class=outside]
    ${outside.join('\n')}
  }`);
  // Without the titles of edges: those of reversed edges name their ends in the wrong order.
  return svg
    .replaceAll(/(?<=class="edge.*\n)<title>[^<]*<\/title>\n/g, '')
    .replace(/(?=<g id="graph0")/, `<title>${TITLE}</title>\n<style>${STYLE}\n</style>\n`)
    .replace(/(?<=class="cluster core">.*?points=")[^"]+/s, toHexagon);
}

/** Converts the corners of a rectangle to those of a hexagon around it. */
function toHexagon(corners: string): string {
  const points = corners.split(' ').map((point) => point.split(',').map(Number));
  const xs = points.map(([x = 0]) => x);
  const ys = points.map(([, y = 0]) => y);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)] as const;
  const middle = (left + right) / 2;
  return `${left},${top} ${middle},${top - 60} ${right},${top} ${right},${bottom} ${middle},${bottom + 60} ${left},${bottom}`;
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

/** `/adapters/driving/koa` for its files, `/core/create-plant` for a file of the core, `/composition` for its files. */
function partOf(file: string): string {
  const path = file.replace(/\.ts$/, '');
  if (path.startsWith(`${FRAME}/`)) return FRAME;
  return isCore(path) ? path : path.split('/').slice(0, 4).join('/');
}

function isOn(side: 'driving' | 'driven', part: string): boolean {
  return part.includes(`/${side}/`);
}

function isCore(part: string): boolean {
  return part.startsWith('/core/');
}

/** Returns the node of a part: `"CreatePlant"` for `/core/create-plant`, the folder of an adapter. */
function toNode(part: string): string {
  const name = part.split('/').at(-1) ?? '';
  return `"${isCore(part) ? name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase()) : name}"`;
}
