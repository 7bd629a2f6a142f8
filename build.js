// Builds dist: the compiled code, the OpenAPI description as JSON and as a module, the files of the docs page, no tests
// without source. Tests run on dist, because it is the code that is published.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const root = (path) => fileURLToPath(new URL(path, import.meta.url));

// The compiler is a binary in an optional package.
if (existsSync(root(`node_modules/@typescript/typescript-${process.platform}-${process.arch}`))) {
  const compiler = join(dirname(fileURLToPath(import.meta.resolve('typescript/package.json'))), 'bin/tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-b'], { cwd: root('.'), stdio: 'inherit' });
  if (status !== 0) process.exit(1);
} else {
  stripTypes();
}

const description = JSON.stringify(parse(readFileSync(root('docs/openapi.yaml'), 'utf8'), { strict: true }));
writeFileSync(root('dist/openapi.json'), description);
writeFileSync(root('dist/adapters/driving/api/openapi-document.js'), `export default ${description};\n`);

cpSync(root('adapters/driving/http/docs-page'), root('dist/adapters/driving/http/docs-page'), { recursive: true });
// The only one of five pages tried that works under a Content-Security-Policy without unsafe-inline.
const swaggerUi = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
const files = ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt', 'swagger-ui.css'];
for (const file of files)
  cpSync(join(swaggerUi, file), root(`dist/adapters/driving/http/docs-page/swagger-ui/${file}`));

for (const file of readdirSync(root('dist/test'), { recursive: true }).filter((name) => name.endsWith('.test.js'))) {
  const source = join(root('test'), file.replace(/\.js$/, '.ts'));
  if (!existsSync(source)) rmSync(join(root('dist/test'), file));
}

/** Compiles without the compiler: removes the types from the code, unchecked. */
function stripTypes() {
  if (!module.stripTypeScriptTypes) {
    console.error('The compiler is not installed: use Node 22.13 or newer, or run npm ci without --omit=optional');
    process.exit(1);
  }
  for (const folder of ['core', 'adapters', 'composition', 'docs/examples', 'test']) {
    for (const file of readdirSync(root(folder), { recursive: true })) {
      if (!file.endsWith('.ts') || file.endsWith('.d.ts') || file.includes('node_modules')) continue;
      const target = root(join('dist', folder, file.replace(/\.ts$/, '.js')));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, module.stripTypeScriptTypes(readFileSync(root(join(folder, file)), 'utf8')));
    }
  }
}
