import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { Graphviz } from '@hpcc-js/wasm-graphviz';
import { describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';
import { expectSnapshot } from '../support/snapshot.js';

/** An import or re-export. */
interface Import {
  /** Path of the importing file from the root of the repository, such as `/core/index.ts`. */
  readonly from: string;
  /** Path of the imported file, such as `/core/index`, or the name of a package. */
  readonly to: string;
  /** Imported names; empty for `import * as` and for side-effect imports. */
  readonly names: readonly string[];
}

/** An import or re-export: the names in braces, and the path. */
const IMPORT = /(?:(?:\{([^{}]*)\}\s*|\b)from|\bimport|\bimport\(|\brequire\()\s*['"]([\w@./:-]+)['"]/g;

/** What adapters connect to outside the service: to the left of those that drive it, to the right of those it drives. */
const OUTSIDE = `clients -> koa; files -> ndjson; Prometheus -> management
  jwt -> issuer; knex -> "SQLite\nPostgreSQL\nMariaDB"`;
const TITLE = 'The hexagon: adapters around a core, wired by composition';

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

/** Returns the box of a file: the folder of an adapter, such as `adapters/driving/koa`, or a file of the core. */
const boxOf = (path: string) => /^\/(adapters\/\w+\/[\w-]+|core\/[\w/-]+)/.exec(path)?.[1] ?? '';
/** Returns the quoted name of a box: `"koa"`, or `"CreatePlant"` for `core/create-plant`. */
const toNode = (box: string) => {
  const name = JSON.stringify(box.slice(box.lastIndexOf('/') + 1));
  return box.startsWith('core/') ? name.replaceAll(/["-]\w/g, (start) => start.replace('-', '').toUpperCase()) : name;
};

describe('The hexagon', () => {
  const imports = ['core', 'adapters', 'composition', 'test'].flatMap(importsIn);

  it('is drawn in docs/hexagon.svg as the code imports it', async () => {
    const entries = imports.filter(({ from }) => from === '/core/index.ts');
    const exporters = new Map(entries.flatMap(({ names, to }) => names.map((name) => [name, boxOf(to)])));
    const edges = imports.flatMap(({ from, to, names }) => {
      // An import from core/index.ts leads to the files behind it.
      const targets = to === '/core/index' ? names.map((name) => exporters.get(name) ?? '') : [boxOf(to)];
      return targets.filter((target) => target !== boxOf(from)).map((target) => [boxOf(from), target] as const);
    });
    const boxes = [...new Set(edges.flat())].sort();
    const within = (folder: string) => boxes.filter((box) => box.startsWith(folder));
    const [drivingPorts, drivenPorts] = [within('core/ports/driving/'), within('core/ports/driven/')];
    const importsPort = (box: string) =>
      edges.some(([from, to]) => from === box && [...drivingPorts, ...drivenPorts].includes(to));
    const useCases = within('core/').filter((box) => importsPort(box) && box !== 'core/index');
    const [driving, driven] = [within('adapters/driving/'), within('adapters/driven/')];
    const columns = [driving, drivingPorts, useCases, drivenPorts, driven];
    const columnOf = (box: string) => columns.findIndex((column) => column.includes(box));
    const arrows = edges
      .filter((ends) => ends.every((box) => columnOf(box) !== -1))
      .map(([from, to]) =>
        // Graphviz places the start of an edge to the left of its end.
        columnOf(from) > columnOf(to)
          ? `${toNode(to)} -> ${toNode(from)} [dir=back]`
          : `${toNode(from)} -> ${toNode(to)}`,
      );

    const column = (name: string, label: 'top' | 'bottom', nodeClass: string, members: readonly string[]) =>
      `subgraph "cluster_${name}" {
        label="${name}"; labelloc=${label}; peripheries=0; rank=same; node [class="${nodeClass}"]
        ${members.map(toNode).join('; ')}
      }`;
    const svg = (await Graphviz.load()).dot(`digraph hexagon {
      rankdir=LR; nodesep=0.25; ranksep=0.5; fontname=Helvetica; newrank=true
      node [shape=box; style=rounded; fontname=Helvetica; height=0.45; width=1.35; margin="0.15,0"]
      subgraph cluster_composition { label="composition"; class=frame; style=rounded; margin=16
        ${column('driving', 'top', 'adapter', driving)}
        ${column('driven', 'top', 'adapter', driven)}
        subgraph cluster_core { label="core"; class=core; style=solid; margin=14
          ${column('driving ports', 'bottom', 'port', drivingPorts)}
          ${column('use cases', 'bottom', 'use-case', useCases)}
          ${column('driven ports', 'bottom', 'port', drivenPorts)}
        }
      }
      edge [arrowsize=0.8]
      ${[...new Set(arrows)].sort().join('\n')}
      node [shape=plaintext; width=0]; edge [dir=none; style=dashed; class=outside]
      ${OUTSIDE}
    }`);
    const styled = svg
      // Without the titles of edges: those of reversed edges name their ends in the wrong order.
      .replaceAll(/(?<=class="edge.*\n)<title>[^<]*<\/title>\n/g, '')
      .replace(/(?=<g id="graph0")/, `<title>${TITLE}</title>\n<style>${STYLE}\n</style>\n`)
      .replace(/(?<=class="cluster core">.*?points=")[^"]+/s, toHexagon);
    expectSnapshot('docs/hexagon.svg', styled);
  });
});

/** Returns every import and re-export in the TypeScript files of a folder of the repository. */
function importsIn(folder: string): Import[] {
  const files = readdirSync(inRepository(folder), { recursive: true, encoding: 'utf8' });
  const sources = files.filter((name) => name.endsWith('.ts') && !name.includes('node_modules/'));
  return sources.flatMap((name) => {
    const from = `/${folder}/${name.replaceAll('\\', '/')}`;
    const text = readFileSync(inRepository(from.slice(1)), 'utf8').replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '');
    return [...text.matchAll(IMPORT)].map(([, names = '', path = '']) => ({
      from,
      to: path.startsWith('.') ? posix.join(posix.dirname(from), path.replace(/\.js$/, '')) : path,
      names: [...names.matchAll(/(?:\btype\s+)?(\w+)(?:\s+as\s+\w+)?/g)].map(([, name = '']) => name),
    }));
  });
}

/** Converts the corners of a rectangle to those of a hexagon around it. */
function toHexagon(corners: string): string {
  const points = corners.split(' ').map((point) => point.split(',').map(Number));
  const [xs, ys] = [points.map(([x = 0]) => x), points.map(([, y = 0]) => y)] as const;
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)] as const;
  const middle = (left + right) / 2;
  return `${left},${top} ${middle},${top - 60} ${right},${top} ${right},${bottom} ${middle},${bottom + 60} ${left},${bottom}`;
}
