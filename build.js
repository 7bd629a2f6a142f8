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

cpSync(root('adapters/driving/koa/docs-page'), root('dist/adapters/driving/koa/docs-page'), { recursive: true });
// The only one of five pages tried that works under a Content-Security-Policy without unsafe-inline.
const swaggerUi = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
const files = ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt', 'swagger-ui.css'];
for (const file of files) cpSync(join(swaggerUi, file), root(`dist/adapters/driving/koa/docs-page/swagger-ui/${file}`));

// Step 6 of the tutorial compiles only some folders.
if (existsSync(root('dist/composition'))) await writeManual();

for (const file of readdirSync(root('dist/test'), { recursive: true }).filter((name) => name.endsWith('.test.js'))) {
  const source = join(root('test'), file.replace(/\.js$/, '.ts'));
  if (!existsSync(source)) rmSync(join(root('dist/test'), file));
}

/** Writes the man page and the completion for bash, from the program and the table of settings. */
async function writeManual() {
  const { createProgram, EXIT_CODES } = await import('./dist/composition/cli/program.js');
  const { settings } = await import('./dist/composition/config.js');
  const program = createProgram(() => {});
  const { commands } = program;
  const flagOf = ({ variable }) => `--${variable.toLowerCase().replaceAll('_', '-')}`;
  const all = Object.values(settings);

  const toEscape = (character) => `\\[u${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}]`;
  const roff = (text) =>
    text
      .replace(/[\\]|^[.']/gm, toEscape)
      .replaceAll('-', '\\-')
      .replace(/[^ -~\n]/gu, toEscape);
  const item = (term, text) => `.TP\n.B ${roff(term)}\n${roff(text)}`;
  const command = (each) => [
    `.SS ${each.name()}`,
    roff(each.description()),
    // The other options are settings.
    ...each.options
      .filter((option) => !option.helpGroupHeading)
      .map(({ flags, description }) => item(flags, description)),
  ];
  const setting = (each) => {
    const text = `${each.help}; must be ${each.allowed}${each.default === undefined ? '' : ` [${each.default}]`}`;
    return item(each.flag === false ? each.variable : `${each.variable}, ${flagOf(each)}`, text);
  };
  const manual = [
    `.TH PLANT\\-STORE 1 "" "plant\\-store ${program.version()}"`,
    '.SH NAME\nplant\\-store \\- serve, check and move a store of plants',
    '.SH SYNOPSIS',
    commands.map((each) => `.B plant\\-store ${each.name()}\n${roff(each.usage())}`).join('\n.br\n'),
    '.SH COMMANDS',
    ...commands.flatMap(command),
    '.SH SETTINGS\nEnvironment variables and flags; a flag takes precedence. Each command reads those that its help lists.',
    ...[...new Set(all.map(({ group }) => group))].flatMap((group) => [
      `.SS ${group}`,
      ...all.filter((each) => each.group === group).map(setting),
    ]),
    `.SH EXIT STATUS\n${roff(EXIT_CODES)}`,
  ];
  writeFileSync(root('dist/plant-store.1'), `${manual.join('\n')}\n`);

  const flagsOf = (each) => each.options.map(({ long }) => long).join(' ');
  const wordsOf = ({ allowed }) =>
    /^(?:one of )?((?:\w+(?:, | or |$)){2,})$/.exec(allowed)?.[1].replace(/, | or /g, ' ') ?? '';
  const values = [...new Set(all.map(wordsOf))].map((words) => {
    const flags = all.filter((each) => wordsOf(each) === words).map((each) => `*:${flagOf(each)}`);
    return `    ${flags.join(' | ')}) words='${words}' ;;`;
  });
  const completion = `# Completes plant-store in bash; in zsh, after: autoload -U bashcompinit && bashcompinit
_plant_store() {
  local words
  case "\${COMP_WORDS[1]}:$3" in
${values.join('\n')}
${commands.map((each) => `    ${each.name()}:*) words='${flagsOf(each)} --help' ;;`).join('\n')}
    *) words='${commands.map((each) => each.name()).join(' ')} --help --version ${flagsOf(commands[0])}' ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$2"))
}
complete -o default -F _plant_store plant-store
`;
  writeFileSync(root('dist/plant-store.bash'), completion);
}

/** Compiles without the compiler: removes the types from the code, unchecked. */
function stripTypes() {
  if (!module.stripTypeScriptTypes) {
    console.error('The compiler is not installed: use Node 22.13 or newer, or run npm ci without --omit=optional');
    process.exit(1);
  }
  for (const folder of ['core', 'adapters', 'composition', 'docs/examples', 'test']) {
    for (const file of readdirSync(root(folder), { recursive: true })) {
      if (!file.endsWith('.ts') || file.includes('node_modules')) continue;
      const target = root(join('dist', folder, file.replace(/\.ts$/, '.js')));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, module.stripTypeScriptTypes(readFileSync(root(join(folder, file)), 'utf8')));
    }
  }
}
