// Packs plant-store-embed, the entry points for programs that embed the core, with the options of npm pack. Needs dist. The
// manifest follows package.json; every dependency becomes an optional peer. In plant-store itself, optional peers would break
// npx plant-store, and npm installs required ones.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The entry points of the service, which needs more than one package. */
const SERVICE = ['./composition', './adapters/http', './adapters/koa'];
/** The packages that the other entry points import. */
const PEERS = ['ajv', 'ajv-formats', 'jose', 'knex', 'mysql2', 'pg', 'sqlite3'];

const root = (path) => fileURLToPath(new URL(path, import.meta.url));
const manifest = JSON.parse(readFileSync(root('package.json'), 'utf8'));
const { version, license, type, engines, typesVersions } = manifest;
const exports = Object.fromEntries(Object.entries(manifest.exports).filter(([path]) => !SERVICE.includes(path)));
const ranges = { ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.peerDependencies };

const stage = mkdtempSync(join(tmpdir(), 'plant-store-embed-'));
const isPublished = (name) => !/\.tsbuildinfo$|tsconfig\.json$|openapi-document\.d\.ts$/.test(name);
const copy = (path, to = path) => cpSync(root(path), join(stage, to), { recursive: true, filter: isPublished });

// The description is copied below.
const entries = Object.values(exports).filter((target) => target !== './dist/openapi.json');
for (const folder of entries.map((target) => dirname(target).replace('./dist/', ''))) {
  copy(`dist/${folder}`);
  copy(folder);
}
copy('dist/openapi.json');
copy('LICENSE');
copy('docs/embed-package.md', 'README.md');
writeFileSync(
  join(stage, 'package.json'),
  JSON.stringify({
    ...{ name: 'plant-store-embed', version, description: 'The parts of plant-store to embed, without the service.' },
    ...{ license, type, engines, exports, typesVersions, sideEffects: false },
    peerDependencies: Object.fromEntries(PEERS.map((name) => [name, ranges[name]])),
    peerDependenciesMeta: Object.fromEntries(PEERS.map((name) => [name, { optional: true }])),
  }),
);
execFileSync('npm', ['pack', stage, ...process.argv.slice(2)], { stdio: 'inherit' });
rmSync(stage, { recursive: true });
