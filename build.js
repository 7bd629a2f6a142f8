// Builds the dist of each package: the compiled code, the OpenAPI description as code and as JSON, the files of the docs
// page, no tests without source. Tests run on dist, because it is the code that is published.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = (path) => fileURLToPath(new URL(path, import.meta.url));
const fail = (problem) => {
  console.error(problem);
  process.exit(1);
};

const required = JSON.parse(readFileSync(root('package.json'), 'utf8')).engines.node.replace('>=', '');
if (process.versions.node.localeCompare(required, undefined, { numeric: true }) < 0)
  fail(`Plant Store needs Node ${required} or newer; this is Node ${process.versions.node}`);
// Any other development dependency would do.
const { parse } = await import('yaml').catch(() =>
  fail('The build needs the development dependencies: npm install --include=dev'),
);
const { Ajv2020 } = await import('ajv/dist/2020.js');
const { default: standaloneCode } = await import('ajv/dist/standalone/index.js');

const packageFolder = (name) => dirname(fileURLToPath(import.meta.resolve(`${name}/package.json`)));

const description = parse(readFileSync(root('docs/openapi.yaml'), 'utf8'), { strict: true });
const json = JSON.stringify(description);
write('dist/openapi.json', json);
// Same options as in plant-codec.ts.
const code = { source: true, esm: true };
const ajv = new Ajv2020({ allErrors: true, verbose: true, meta: false, validateSchema: false, code });
// plant-codec.ts checks the range on the digits, because JSON.parse rounds.
ajv.addFormat('int64', true);
ajv.addVocabulary(Object.keys(description));
ajv.addSchema(description, 'description');
// Frozen, because every part of a program shares it.
const frozen = `JSON.parse(${JSON.stringify(json)}, (_, value) => Object.freeze(value))`;
write('adapters/dist/driving/api/description.js', `export const openApiDescription = ${frozen};\n`);
const validator = standaloneCode(ajv, { isNewPlant: 'description#/components/schemas/NewPlant' });
write('adapters/dist/driving/api/is-new-plant.js', validator);
// The compiler reads the declaration, but does not copy it.
cpSync(root('adapters/driving/api/description.d.ts'), root('adapters/dist/driving/api/description.d.ts'));

// The compiler is a binary in an optional package.
if (existsSync(root(`node_modules/@typescript/typescript-${process.platform}-${process.arch}`))) {
  const compiler = join(packageFolder('typescript'), 'bin/tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-b'], { cwd: root('.'), stdio: 'inherit' });
  if (status !== 0) process.exit(1);
} else {
  stripTypes();
}

cpSync(root('adapters/driving/koa/docs-page'), root('adapters/dist/driving/koa/docs-page'), { recursive: true });
// The only one of five pages tried that works under a Content-Security-Policy without unsafe-inline.
const files = ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt', 'swagger-ui.css'];
for (const file of files) cpSync(join(packageFolder('swagger-ui-dist'), file), root(`dist/swagger-ui/${file}`));

for (const file of readdirSync(root('dist/test'), { recursive: true }).filter((name) => name.endsWith('.test.js'))) {
  const source = join(root('test'), file.replace(/\.js$/, '.ts'));
  if (!existsSync(source)) rmSync(join(root('dist/test'), file));
}

/** Compiles without the compiler: removes the types from the code, unchecked. */
function stripTypes() {
  if (!module.stripTypeScriptTypes)
    fail('The compiler is not installed: use Node 22.13 or newer, or run npm ci without --omit=optional');
  const packages = ['core', 'adapters', 'test/contract'].map((folder) => [folder, `${folder}/dist`]);
  const others = ['composition', 'docs/examples', 'test'].map((folder) => [folder, `dist/${folder}`]);
  for (const [folder, dist] of [...packages, ...others]) {
    for (const file of readdirSync(root(folder), { recursive: true })) {
      if (!file.endsWith('.ts') || file.endsWith('.d.ts') || /(^|\/)(node_modules|dist)\//.test(file)) continue;
      const code = module.stripTypeScriptTypes(readFileSync(root(join(folder, file)), 'utf8'));
      write(join(dist, file.replace(/\.ts$/, '.js')), code);
    }
  }
}

function write(path, text) {
  mkdirSync(dirname(root(path)), { recursive: true });
  writeFileSync(root(path), text);
}
