import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { Executable, endProgramsAfterAll } from '../support/executable.js';
import { codeBlocks, section } from '../support/guide.js';
import { needs } from '../support/needs.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';
import { linesOf, serve, TOKEN } from '../system/client.js';
import { needsWide, wide } from './wide.js';

/** What one of the generators needs: 22.18 or newer. */
const NODE = 'node-24/bin/node';
const DESCRIPTION = inRepository('docs/openapi.yaml');
/** An id that no JavaScript number is. */
const ID = 9007199254740993n;
const NEIGHBOUR = 9007199254740992n;

/** The generators of the guide, by its headings, and how they end that have a bigint and nothing that writes its digits. */
const GENERATORS = [
  {
    heading: 'openapi-typescript and openapi-fetch',
    exactOptionalPropertyTypes: true,
    ownEnd: 'Do not know how to serialize a BigInt',
  },
  { heading: '@hey-api/openapi-ts', exactOptionalPropertyTypes: false, ownEnd: '"error":40002' },
];

/** As strict as this repository, but for what a generator is not. */
const tsconfig = (exactOptionalPropertyTypes: boolean) => ({
  extends: inRepository('tsconfig.json'),
  compilerOptions: {
    composite: false,
    declarationMap: false,
    noEmit: true,
    rootDir: '.',
    types: [],
    lib: ['ES2023', 'DOM', 'DOM.Iterable'],
    module: 'ESNext',
    moduleResolution: 'bundler',
    skipLibCheck: false,
    exactOptionalPropertyTypes,
  },
  files: ['main.ts'],
  include: [],
  references: [],
});

/** Creates a plant by the guide's client, and says what its types say of the answer. */
const main = (toId: 'Number' | 'BigInt') => `
import { plantCreator } from './client';
declare const process: { readonly argv: readonly string[] };

const [, , baseUrl = '', token = '', digits = ''] = process.argv;
const { data, error, response } = await plantCreator(baseUrl, token)({ id: ${toId}(digits), name: 'Monstera' });
const texts: { name: string; tag?: string } | undefined = data;
const refusal: { error: number; message: string } | undefined = error;
// @ts-expect-error the answer has no id
data?.id;
// @ts-expect-error an Error object has no code
error?.code;
const isStored = response?.ok || error?.error === 40902;
console.log(JSON.stringify({ status: response?.status, name: texts?.name, error: refusal?.error, isStored }));
`;

for (const { heading, exactOptionalPropertyTypes, ownEnd } of GENERATORS) {
  describe(`A client made by ${heading}, as the guide says`, function () {
    this.timeout(60_000);
    endProgramsAfterAll();
    const blocks = codeBlocks(section('docs/interface.md', heading));
    const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
    const store = temporaryFolder();
    let folder: string;
    let url: string;

    before(async function () {
      needsWide(this);
      needs(this, existsSync(wide(NODE)), NODE);
      // Inside node_modules, the client finds what it imports.
      folder = mkdtempSync(wide('.clients-'));
      after(() => rmSync(folder, { recursive: true, force: true }));
      copyFileSync(DESCRIPTION, join(folder, 'openapi.yaml'));
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig(exactOptionalPropertyTypes)));
      for (const { text } of blocks) {
        const name = /^\/\/ (\S+)\n/.exec(text)?.[1];
        if (name !== undefined) writeFileSync(join(folder, name), text);
      }
      url = `http://127.0.0.1:${await serve(store).port()}`;
    });

    /** Runs a command of the guide. */
    function run(command: string): { status: number | null; stdout: string; stderr: string } {
      // It installs nothing, and says nothing of its own.
      const line = `npx() { "$@"; }; ${command}`;
      const { PATH, HOME } = process.env;
      const env = { PATH: [dirname(wide(NODE)), wide('.bin'), PATH].join(':'), HOME };
      const { status, stdout, stderr } = spawnSync('bash', ['-c', line], { cwd: folder, encoding: 'utf8', env });
      return { status, stdout, stderr };
    }

    /** Generates by one of the guide's commands, and makes a program of the guide's client and {@link main}. */
    function make(command: string | undefined, toId: 'Number' | 'BigInt', writesDigits: boolean): void {
      const generated = run(command ?? '');
      expect(generated).to.include({ status: 0, stderr: '' });
      expect(generated.stdout).to.not.match(/warn|⚠/i);

      const client = blocks.find(({ text }) => text.startsWith('// client.ts'))?.text ?? '';
      const plain = client.replace(/^const toJson.*\n/m, '').replace(', bodySerializer: () => toJson(body)', '');
      writeFileSync(join(folder, 'client.ts'), writesDigits ? client : plain);
      writeFileSync(join(folder, 'main.ts'), main(toId));
      expect(run('tsc')).to.deep.equal({ status: 0, stdout: '', stderr: '' });
      run('esbuild main.ts --bundle --platform=node --format=esm --outfile=main.js');
    }

    /** What the program saw, run by the Node of these tests. */
    function create(token = TOKEN): string {
      const args = [join(folder, 'main.js'), url, token, `${ID}`];
      const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: {} });
      return stdout + stderr;
    }

    /** What is stored, as the service exports it. */
    async function stored(): Promise<string[]> {
      const exported = new Executable(store, ['export']);
      await exported.exited();
      return linesOf(exported.stdout);
    }

    it('is made without a warning, compiles strictly, and sends a neighbour of an id beyond 2⁵³', async () => {
      make(commands[0], 'Number', false);
      expect(JSON.parse(create())).to.deep.equal({ status: 200, name: 'Monstera', isStored: true });
      expect(await stored()).to.include(`{"id":${NEIGHBOUR},"name":"Monstera"}`);
    });

    it('cannot send a bigint by itself', () => {
      make(commands[1], 'BigInt', false);
      expect(create()).to.include(ownEnd);
    });

    it('sends a bigint exactly where it writes the digits; knows 200, 409 with 40902, and 401', async () => {
      make(commands[1], 'BigInt', true);
      expect(JSON.parse(create())).to.deep.equal({ status: 200, name: 'Monstera', isStored: true });
      expect(await stored()).to.include(`{"id":${ID},"name":"Monstera"}`);
      expect(JSON.parse(create())).to.deep.equal({ status: 409, error: 40902, isStored: true });
      expect(JSON.parse(create('another-token'))).to.deep.equal({ status: 401, error: 40102, isStored: false });
    });
  });
}
