// Completes dist after the compiler: the OpenAPI description as JSON and as a module, the main entry point, the files of the
// docs page, no tests without source.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { mainEntryPoint } from './main-entry-point.js';

const root = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const description = JSON.stringify(parse(readFileSync(root('docs/openapi.yaml'), 'utf8'), { strict: true }));
writeFileSync(root('dist/openapi.json'), description);
writeFileSync(root('dist/adapters/api/openapi-document.js'), `export default ${description};\n`);

const { exports } = JSON.parse(readFileSync(root('package.json'), 'utf8'));
for (const [file, text] of Object.entries(mainEntryPoint(exports))) writeFileSync(root(`dist/${file}`), text);

cpSync(root('adapters/koa/docs-page'), root('dist/adapters/koa/docs-page'), { recursive: true });
const swaggerUi = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
for (const file of [
  'LICENSE',
  'NOTICE',
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui.css',
]) {
  cpSync(`${swaggerUi}/${file}`, root(`dist/adapters/koa/docs-page/swagger-ui/${file}`));
}

for (const file of readdirSync(root('dist/test'), { recursive: true }).filter((name) => name.endsWith('.test.js'))) {
  const source = join(root('test'), file.replace(/\.js$/, '.ts'));
  if (!existsSync(source)) rmSync(join(root('dist/test'), file));
}
