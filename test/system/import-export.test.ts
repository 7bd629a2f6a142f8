import { createHash } from 'node:crypto';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { type DatabaseServer, databasesOn, mariadbServer, postgresServer } from '../support/database-servers.js';
import { CLI, Executable, endProgramsAfterEach, Program } from '../support/executable.js';
import { needs, needsProgram } from '../support/needs.js';
import { temporaryFolder } from '../support/temporary.js';
import { linesOf } from './client.js';
import { plantsIn, SqliteFile } from './sqlite-file.js';
import { mariadbEngine, postgresEngine, sqliteEngine } from './stores.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The lines of plants with ids from `first` on. */
function plantLines(first: number, count: number): string {
  return Array.from({ length: count }, (_, index) => `{"id":${first + index},"name":"plant ${first + index}"}\n`).join(
    '',
  );
}

describe('Moving a store', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();
  let names = 0;
  const newName = (extension: string) => `${++names}.${extension}`;
  const newDatabase = () => ({ DATABASE_URL: `sqlite:${newName('db')}` });
  const fileOf = ({ DATABASE_URL }: { readonly DATABASE_URL: string }) =>
    join(folder, DATABASE_URL.slice('sqlite:'.length));

  /** Writes a file in the folder, and returns its name. */
  function newFile(text: string | Uint8Array): string {
    const name = newName('ndjson');
    writeFileSync(join(folder, name), text);
    return name;
  }

  /** Runs the executable to its end. */
  async function run(
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
    input: string | Uint8Array = '',
  ) {
    const program = new Executable(folder, args, environment);
    program.process.stdin?.on('error', () => {});
    program.process.stdin?.end(input);
    const exitCode = await program.exited();
    return { exitCode, stdout: program.stdout, stderr: program.stderr };
  }

  /** Runs a line of bash, in which `$PLANT_STORE` is the executable. */
  async function bash(line: string, environment: Readonly<Record<string, string>>) {
    const program = new Program(folder, ['bash', '-c', line], {
      ...environment,
      PLANT_STORE: `${process.execPath} ${CLI}`,
    });
    program.process.stdin?.end();
    const exitCode = await program.exited();
    return { exitCode, stdout: program.stdout, stderr: program.stderr };
  }

  describe('import', () => {
    const text = '{"id":9223372036854775807,"name":"é"}\n{"id":-9223372036854775808,"name":"","tag":"a "}\n';
    const expected = [
      { id: -9223372036854775808n, name: '', tag: 'a ' },
      { id: 9223372036854775807n, name: 'é' },
    ];

    it('reads a file, sums up, and exits with 0', async () => {
      const database = newDatabase();
      const result = await run(['import', newFile(text)], database);
      expect(result).to.deep.equal({
        exitCode: 0,
        stdout: '',
        stderr: '2 plants imported, 0 were stored already, 0 lines refused\n',
      });
      expect(await plantsIn(fileOf(database))).to.deep.equal(expected);
    });

    for (const args of [['import'], ['import', '-']]) {
      it(`reads standard input (${args.join(' ')})`, async () => {
        const database = newDatabase();
        expect((await run(args, database, text)).exitCode).to.equal(0);
        expect(await plantsIn(fileOf(database))).to.deep.equal(expected);
      });
    }

    it('is done with 0 when it is run again, and says that all was stored already', async () => {
      const database = newDatabase();
      const file = newFile(text);
      await run(['import', file], database);
      const { exitCode, stderr } = await run(['import', file], database);
      expect(exitCode).to.equal(0);
      expect(stderr).to.equal('0 plants imported, 2 were stored already, 0 lines refused\n');
    });

    const BAD = '{"id":1,"name":"a"}\nno JSON\n{"id":1,"name":"b"}\n{"id":2,"name":"c"}\n';
    const REFUSED = [
      { line: 2, error: 40001, message: 'This is not one JSON text' },
      { line: 3, error: 40901, message: 'id is taken by a plant that differs in name or tag' },
    ];

    it('tells of refused lines on standard error, stores the rest, and exits with 1', async () => {
      const database = newDatabase();
      const { exitCode, stderr } = await run(['import'], database, BAD);
      expect(exitCode).to.equal(1);
      const lines = linesOf(stderr);
      expect(lines.pop()).to.equal('2 plants imported, 0 were stored already, 2 lines refused');
      expect(lines.map((line) => JSON.parse(line))).to.deep.equal(REFUSED);
      expect((await plantsIn(fileOf(database))).map(({ name }) => name)).to.deep.equal(['a', 'c']);
    });

    it('writes refused lines to --rejects FILE', async () => {
      const rejects = newName('rejects');
      const { exitCode, stderr } = await run(['import', newFile(BAD), '--rejects', rejects], newDatabase());
      expect(exitCode).to.equal(1);
      expect(stderr).to.equal('2 plants imported, 0 were stored already, 2 lines refused\n');
      const lines = linesOf(readFileSync(join(folder, rejects), 'utf8'));
      expect(lines.map((line) => JSON.parse(line))).to.deep.equal(REFUSED);
    });

    it('sums up for a program with --json', async () => {
      const { exitCode, stdout, stderr } = await run(['import', '--json'], newDatabase(), BAD);
      expect(exitCode).to.equal(1);
      expect(JSON.parse(stdout)).to.deep.equal({ created: 2, alreadyStored: 0, refused: 2 });
      expect(linesOf(stderr).map((line) => JSON.parse(line))).to.deep.equal(REFUSED);
    });

    it('leaves --rejects FILE empty where nothing is refused', async () => {
      const rejects = newName('rejects');
      await run(['import', newFile(text), `--rejects=${rejects}`], newDatabase());
      expect(readFileSync(join(folder, rejects), 'utf8')).to.equal('');
    });

    it('refuses a line that is longer than BODY_LIMIT, and goes on behind it', async () => {
      const database = newDatabase();
      const long = `{"id":2,"name":"${'x'.repeat(70_000)}"}\n`;
      const { exitCode, stderr } = await run(
        ['import'],
        { ...database, BODY_LIMIT: '64kb' },
        `{"id":1,"name":"a"}\n${long}{"id":3,"name":"c"}\n`,
      );
      expect(exitCode).to.equal(1);
      const [reject = ''] = linesOf(stderr);
      expect(JSON.parse(reject)).to.deep.equal({
        line: 2,
        error: 41301,
        message: 'The line is larger than 65536 bytes',
      });
      expect((await plantsIn(fileOf(database))).map(({ id }) => id)).to.deep.equal([1n, 3n]);
    });

    describe('fails in one line, with exit code 1,', () => {
      const expectOneLine = (stderr: string, reason: RegExp) => {
        const problems = linesOf(stderr).filter((line) => !/^\d+ plants imported|^\{/.test(line));
        expect(problems, stderr).to.have.lengthOf(1);
        expect(problems[0])
          .to.match(reason)
          .and.to.match(/^plant-store: /);
      };

      for (const [what, args, reason] of [
        [
          'where the file is missing',
          ['import', 'no-such-file'],
          /cannot open no-such-file: there is no such file or folder; look at its path$/,
        ],
        ['where the file is a folder', ['import', '.'], /cannot read \.: it is a folder; name a file in it$/],
        [
          'where --rejects cannot be made',
          ['import', '--rejects', 'no/such/folder'],
          /cannot open no\/such\/folder: there is no such file or folder; look at its path$/,
        ],
        [
          'where --rejects is on a full disk',
          ['import', '--rejects', '/dev/full'],
          /cannot write \/dev\/full: the disk is full; make room$/,
        ],
      ] as const) {
        it(what, async () => {
          const { exitCode, stderr } = await run(args, newDatabase(), BAD);
          expect(exitCode).to.equal(1);
          expectOneLine(stderr, reason);
        });
      }

      it('where --rejects is the file that is read, and leaves it as it is', async () => {
        const file = newFile(BAD);
        const { exitCode, stderr } = await run(['import', file, '--rejects', `./${file}`], newDatabase());
        expect(exitCode).to.equal(1);
        expectOneLine(stderr, /is the file that is read/);
        expect(readFileSync(join(folder, file), 'utf8')).to.equal(BAD);
      });

      it('where the database cannot be opened', async () => {
        const { exitCode, stderr } = await run(['import'], { DATABASE_URL: 'sqlite:.' }, text);
        expect(exitCode).to.equal(1);
        expectOneLine(stderr, /cannot open the SQLite file .*: it is a folder$/);
      });

      it('where the storage goes away in the middle, and completes when it is run again', async () => {
        const database = newDatabase();
        const program = new Executable(folder, ['import'], { ...database, STORAGE_TIMEOUT: '300ms' });
        program.type(`${plantLines(1, 3999)}no JSON\n`);
        await program.says(/"line":4000,/);
        const file = await SqliteFile.open(fileOf(database));
        await file.exec('BEGIN IMMEDIATE');
        program.process.stdin?.end(plantLines(4000, 12_000));
        expect(await program.exited()).to.equal(1);
        await file.exec('ROLLBACK');
        await file.close();
        expectOneLine(program.stderr, /the storage does not answer/);
        expect(program.stderr).to.match(/^3999 plants imported, 0 were stored already, 1 lines refused$/m);

        const again = await run(['import'], database, plantLines(1, 15_999));
        expect(again.stderr).to.equal('12000 plants imported, 3999 were stored already, 0 lines refused\n');
      });
    });

    for (const engine of [sqliteEngine, postgresEngine, mariadbEngine]) {
      describe(`into ${engine.name} that is ended in the middle`, () => {
        const ALL = plantLines(1, 20_000);
        const stores = engine.stores();
        const newStore = async () => ({ DATABASE_URL: (await stores.create()).url });

        /** Starts an import that has stored 4,000 plants, and finds all others waiting for it. */
        async function halfway(database: Readonly<Record<string, string>>): Promise<Executable> {
          const program = new Executable(folder, ['import'], database);
          program.process.stdin?.on('error', () => {});
          const lines = linesOf(ALL);
          program.type(`${lines.slice(0, 4000).join('\n')}\nno JSON\n${lines.slice(4000).join('\n')}\n`);
          await program.says(/"line":4001,/);
          return program;
        }

        /** Runs the import again, to its end. Resolves to how many plants were stored before. */
        async function completed(database: { readonly DATABASE_URL: string }): Promise<number> {
          const { exitCode, stderr } = await run(['import'], database, ALL);
          expect(exitCode).to.equal(0);
          const [created = 0, stored = 0] =
            /^(\d+) plants imported, (\d+) were stored already, 0 lines refused\n$/
              .exec(stderr)
              ?.slice(1)
              .map(Number) ?? [];
          expect(created + stored, stderr).to.equal(20_000);
          const exported = await run(['export'], database);
          expect(exported.stdout === ALL, 'the export is the text that was imported').to.equal(true);
          return stored;
        }

        for (const round of [1, 2, 3]) {
          it(`by kill -9 ends, run again, in the same store (round ${round})`, async () => {
            const database = await newStore();
            const program = await halfway(database);
            expect(await program.kill('SIGKILL').exited()).to.equal('SIGKILL');
            expect(await completed(database)).to.be.within(4000, 20_000);
          });
        }

        for (const [signal, exitCode] of [
          ['SIGINT', 130],
          ['SIGTERM', 143],
        ] as const) {
          it(`by ${signal} finishes its batch, says so, exits with ${exitCode}, and completes when it is run again`, async () => {
            const database = await newStore();
            const program = await halfway(database);
            expect(await program.kill(signal).exited()).to.equal(exitCode);
            const [count] = await program.says(/^\d+(?= plants imported)/m);
            expect(program.stderr).to.match(
              /\n\d+ plants imported, 0 were stored already, 1 lines refused\ninterrupted; run the same import again to go on\n$/,
            );
            expect(await completed(database), 'stored, as it said').to.equal(Number(count));
          });
        }
      });
    }

    it('that is ended by SIGINT while it waits for standard input ends at once', async () => {
      const database = newDatabase();
      const program = new Executable(folder, ['import'], database);
      program.type(`${plantLines(1, 3999)}no JSON\n`);
      await program.says(/"line":4000,/);
      program.type(plantLines(5000, 10));
      expect(await program.kill('SIGINT').exited()).to.equal(130);
      expect(program.stderr)
        .to.match(/^3999 plants imported/m)
        .and.to.match(/interrupted; run the same import again/);
      expect(await plantsIn(fileOf(database))).to.have.lengthOf(3999);
    });
  });

  describe('export', () => {
    it('writes every plant on a line, ascending by id', async () => {
      const database = newDatabase();
      await run(['import'], database, '{"id":10,"name":"b"}\n{"id":-9,"name":"a","tag":"\\n"}\n{"id":9,"name":"🌵"}\n');
      expect(await run(['export'], database)).to.deep.equal({
        exitCode: 0,
        stdout: '{"id":-9,"name":"a","tag":"\\n"}\n{"id":9,"name":"🌵"}\n{"id":10,"name":"b"}\n',
        stderr: '',
      });
    });

    it('of an empty store writes nothing', async () => {
      const database = newDatabase();
      await run(['migrate'], database);
      expect(await run(['export'], database)).to.deep.equal({ exitCode: 0, stdout: '', stderr: '' });
    });

    it('of a store that is not there fails, and makes none', async () => {
      const database = newDatabase();
      const { exitCode, stdout, stderr } = await run(['export'], database);
      expect({ exitCode, stdout }).to.deep.equal({ exitCode: 1, stdout: '' });
      expect(stderr).to.match(/^plant-store: there is nothing to export: .* does not exist; look at DATABASE_URL\n$/);
      expect(existsSync(fileOf(database))).to.equal(false);
    });

    it('ends quietly where its reader has had enough, as with | head', async () => {
      const database = newDatabase();
      await run(['import'], database, plantLines(1, 20_000));
      const { exitCode, stdout, stderr } = await bash('set -o pipefail; $PLANT_STORE export | head -n 1', database);
      expect({ exitCode, stdout, stderr }).to.deep.equal({
        exitCode: 0,
        stdout: '{"id":1,"name":"plant 1"}\n',
        stderr: '',
      });
    });

    it('fails in one line where it cannot write', async () => {
      const database = newDatabase();
      await run(['import'], database, plantLines(1, 1));
      const { exitCode, stderr } = await bash('exec $PLANT_STORE export > /dev/full', database);
      expect(exitCode).to.equal(1);
      expect(stderr).to.equal('plant-store: cannot write to standard output: the disk is full; make room\n');
    });
  });

  describe('export | import', () => {
    /** Texts that an engine, a pipe or a JSON text might not keep. */
    const TEXTS = [
      'Monstera',
      '',
      ' ',
      'a ',
      'A',
      'é',
      'e\u0301',
      '🌵',
      '\u{10ffff}',
      '\uffff\ufeff',
      '\n',
      '\r\n',
      '\t',
      '\u2028\u2029',
      '\u0001\u001f\u007f',
      '"\\\'`',
      '%s ? :id $1 {}',
      'NULL',
      '👩🏽‍🌾',
      'x'.repeat(3000),
    ];

    /** 5,000 plants over the whole of int64, both ends included, as an export writes them. */
    function oddStore(): string {
      const [min, max, last] = [-(2n ** 63n), 2n ** 63n - 1n, 4999n];
      const lines: string[] = [];
      for (let index = 0n; index <= last; index++) {
        const id = index === last ? max : min + index * ((max - min) / last);
        const text = TEXTS[Number(index) % TEXTS.length] ?? '';
        const tag = TEXTS[Number(index / 7n) % TEXTS.length];
        const fields = index % 3n === 0n ? { name: text } : { name: text, tag };
        lines.push(`{"id":${id},${JSON.stringify(fields).slice(1)}\n`);
      }
      return lines.join('');
    }
    const store = oddStore();

    /** Moves a store and checks that both ends say nothing of any refusal. */
    async function move(from: string, to: string): Promise<void> {
      const { exitCode, stderr } = await bash(
        'set -o pipefail; DATABASE_URL=$FROM $PLANT_STORE export | DATABASE_URL=$TO $PLANT_STORE import',
        { FROM: from, TO: to },
      );
      expect(stderr).to.equal('5000 plants imported, 0 were stored already, 0 lines refused\n');
      expect(exitCode).to.equal(0);
    }

    async function expectStore(url: string): Promise<void> {
      const { exitCode, stdout, stderr } = await run(['export'], { DATABASE_URL: url });
      expect({ exitCode, stderr }).to.deep.equal({ exitCode: 0, stderr: '' });
      expect(stdout === store, 'byte for byte the same').to.equal(true);
    }

    async function startingStore(): Promise<string> {
      const { DATABASE_URL: url } = newDatabase();
      const { exitCode } = await run(['import'], { DATABASE_URL: url }, store);
      expect(exitCode).to.equal(0);
      return url;
    }

    it('keeps a store byte for byte from one SQLite file to another', async () => {
      const [from, to] = [await startingStore(), newDatabase().DATABASE_URL];
      await expectStore(from);
      await move(from, to);
      await expectStore(to);
    });

    const thereAndBack = (...servers: readonly DatabaseServer[]) => {
      const route = ['SQLite', ...servers.map(({ name }) => name), 'SQLite'].join(' → ');
      describe(`keeps a store byte for byte: ${route}`, () => {
        const databases = servers.map(databasesOn);
        it('5,000 plants over the whole of int64, with odd texts', async () => {
          const stops = await Promise.all(databases.map((each) => each.create()));
          let from = await startingStore();
          for (const to of [...stops, newDatabase().DATABASE_URL]) {
            await move(from, to);
            await expectStore(to);
            from = to;
          }
        });
      });
    };
    thereAndBack(postgresServer);
    thereAndBack(mariadbServer);
    thereAndBack(postgresServer, mariadbServer);
  });

  describe('the progress bar', () => {
    const ESCAPE = '\u001b';
    before(function () {
      needsProgram(this, 'script', '--version');
    });

    /** Runs a line of bash on a terminal of its own. */
    const onTerminal = (line: string, environment: Readonly<Record<string, string>>) =>
      bash(`script -qec '${line}' /dev/null`, { ...environment, TERM: 'xterm' });

    it('of an import stands on a terminal, reaches its end, and leaves the summary below it', async () => {
      const file = newFile(plantLines(1, 3000));
      const { exitCode, stdout } = await onTerminal(`$PLANT_STORE import ${file}`, newDatabase());
      expect(exitCode).to.equal(0);
      expect(stdout)
        .to.include(ESCAPE)
        .and.to.match(/100% \| (\d+) of \1 bytes/);
      expect(stdout).to.match(/\r\n3000 plants imported, 0 were stored already, 0 lines refused\r\n/);
    });

    it('is none where the cursor cannot be moved (TERM=dumb)', async () => {
      const line = `TERM=dumb $PLANT_STORE import ${newFile(plantLines(1, 3000))}`;
      expect(await onTerminal(line, newDatabase())).to.deep.equal({
        exitCode: 0,
        stdout: '3000 plants imported, 0 were stored already, 0 lines refused\r\n',
        stderr: '',
      });
    });

    it('of an import leaves refused lines whole', async () => {
      const file = newFile('no JSON\n');
      const { exitCode, stdout } = await onTerminal(`$PLANT_STORE import ${file}`, newDatabase());
      expect(exitCode).to.equal(1);
      // Behind the escape code that clears the line, up to its end.
      expect(stdout).to.match(/K\{"line":1,"error":40001,"message":"[^"]*"\}\r\n/);
    });

    it('of an export stands on a terminal while its plants go to a file', async () => {
      const database = newDatabase();
      await run(['import'], database, plantLines(1, 3000));
      const output = newName('ndjson');
      const { exitCode, stdout } = await onTerminal(`$PLANT_STORE export > ${output}`, database);
      expect(exitCode).to.equal(0);
      expect(stdout).to.include(ESCAPE).and.to.include('3000 plants');
      expect(readFileSync(join(folder, output), 'utf8')).to.equal(plantLines(1, 3000));
    });

    it('of an export is left out where its plants go to the same terminal', async () => {
      const database = newDatabase();
      await run(['import'], database, plantLines(1, 3));
      const { stdout } = await onTerminal('$PLANT_STORE export', database);
      expect(stdout).to.equal(plantLines(1, 3).replaceAll('\n', '\r\n'));
    });

    it('never hides the cursor, which a signal could not bring back', async () => {
      const file = newFile(plantLines(1, 3));
      const { stdout } = await onTerminal(`$PLANT_STORE import ${file}`, newDatabase());
      expect(stdout).to.include(ESCAPE).and.not.to.include(`${ESCAPE}[?25l`);
    });

    it('stands nowhere else', async () => {
      const database = newDatabase();
      const imported = await run(['import', newFile(plantLines(1, 3000))], database);
      const exported = await run(['export'], database);
      expect(imported.stdout + imported.stderr + exported.stdout + exported.stderr).not.to.include(ESCAPE);
    });
  });

  describe('in constant memory', () => {
    const RSS_KIB_MAX = 256 * 1024;
    before(function () {
      needs(this, existsSync('/proc/self/status'), 'a /proc file system');
    });

    /** Runs a line of bash in which each run of Node tells its largest resident set on standard error. */
    async function measured(line: string, environment: Readonly<Record<string, string>>) {
      const tell = join(folder, 'tell-memory.mjs');
      writeFileSync(
        tell,
        `import { readFileSync, writeSync } from 'node:fs';
         process.on('exit', () => writeSync(2, \`\${/VmHWM:.*kB/.exec(readFileSync('/proc/self/status', 'latin1'))}\\n\`));`,
      );
      const result = await bash(line, { ...environment, NODE_OPTIONS: `--import=${pathToFileURL(tell)}` });
      const peaks = [...result.stderr.matchAll(/VmHWM:\s*(\d+) kB/g)].map(([, kib]) => Number(kib));
      expect(peaks, result.stderr).to.not.be.empty;
      expect(Math.max(...peaks), 'KiB of resident set').to.be.below(RSS_KIB_MAX);
      expect(result.exitCode).to.equal(0);
      return { ...result, peaks };
    }

    /** Writes lines to a file in the folder, and returns their digest. */
    function write(name: string, count: number, line: (index: number) => string): string {
      const file = openSync(join(folder, name), 'w');
      const digest = createHash('sha256');
      let lines = '';
      for (let index = 0; index < count; index++) {
        lines += line(index);
        if (lines.length < 2 ** 20 && index < count - 1) continue;
        writeSync(file, lines);
        digest.update(lines);
        lines = '';
      }
      closeSync(file);
      return digest.digest('hex');
    }

    for (const [what, count, line] of [
      ['300,000 plants', 300_000, (index: number) => `{"id":${index},"name":"plant ${index}","tag":"indoor"}\n`],
      ['300 plants with names of 1 MiB', 300, (index: number) => `{"id":${index},"name":"${'x'.repeat(2 ** 20)}"}\n`],
    ] as const) {
      it(`imports and exports ${what} with less than 256 MB each`, async function () {
        this.timeout(60_000);
        const [database, name] = [{ ...newDatabase(), BODY_LIMIT: '2mb' }, newName('ndjson')];
        const digest = write(name, count, line);
        const { peaks } = await measured(
          `$PLANT_STORE import < ${name} && $PLANT_STORE export | tee /dev/null | sha256sum > ${name}.sum`,
          database,
        );
        expect(peaks).to.have.lengthOf(2);
        expect(readFileSync(join(folder, `${name}.sum`), 'utf8')).to.match(RegExp(`^${digest} `));
      });
    }

    it('imports 200,000 lines of which each is refused, and one of 300 MB, with less than 256 MB', async function () {
      this.timeout(60_000);
      const { stderr } = await measured(
        `{ yes 'no JSON' | head -n 200000; head -c 300000000 /dev/zero; } | $PLANT_STORE import --rejects rejects.ndjson || [ $? = 1 ]`,
        newDatabase(),
      );
      expect(stderr).to.include('0 plants imported, 0 were stored already, 200001 lines refused\n');
      const lines = linesOf(readFileSync(join(folder, 'rejects.ndjson'), 'utf8'));
      expect(JSON.parse(lines.at(-1) ?? '')).to.include({ line: 200_001, error: 41301 });
    });
  });

  describe('migrate', () => {
    it('--dry-run shows what it would do, and does nothing: no file is made', async () => {
      const database = newDatabase();
      const result = await run(['migrate', '--dry-run'], database);
      expect(result).to.deep.equal({ exitCode: 0, stdout: 'would apply 001_plants\n', stderr: '' });
      expect(existsSync(fileOf(database))).to.equal(false);
    });

    it('does it, and has nothing to do the next time', async () => {
      const database = newDatabase();
      expect(await run(['migrate'], database)).to.deep.equal({
        exitCode: 0,
        stdout: 'applied 001_plants\n',
        stderr: '',
      });
      expect(await plantsIn(fileOf(database))).to.deep.equal([]);
      for (const args of [['migrate'], ['migrate', '--dry-run']]) {
        const result = await run(args, database);
        expect(result).to.deep.equal({ exitCode: 0, stdout: 'the schema is up to date\n', stderr: '' });
      }
    });

    it('says it for a program with --json', async () => {
      const database = newDatabase();
      const said = async (...args: string[]) =>
        JSON.parse((await run(['migrate', '--json', ...args], database)).stdout);
      expect(await said('--dry-run')).to.deep.equal({ applied: [], pending: ['001_plants'] });
      expect(await said()).to.deep.equal({ applied: ['001_plants'], pending: [] });
      expect(await said()).to.deep.equal({ applied: [], pending: [] });
    });

    it('has nothing to do where plants are kept in memory', async () => {
      const { exitCode, stdout } = await run(['migrate'], { DATABASE_URL: 'memory:' });
      expect([exitCode, stdout]).to.deep.equal([0, 'the schema is up to date\n']);
    });

    for (const server of [postgresServer, mariadbServer]) {
      describe(`on ${server.name}`, () => {
        const databases = databasesOn(server);
        it('shows what it would do, does nothing, does it, and has nothing more to do', async () => {
          const url = await databases.create();
          const knex = databases.connect(url);
          const database = { DATABASE_URL: url };
          expect((await run(['migrate', '--dry-run'], database)).stdout).to.equal('would apply 001_plants\n');
          expect(await knex.schema.hasTable('plants')).to.equal(false);
          expect((await run(['migrate'], database)).stdout).to.equal('applied 001_plants\n');
          expect(await knex.schema.hasTable('plants')).to.equal(true);
          expect((await run(['migrate'], database)).stdout).to.equal('the schema is up to date\n');
        });
      });
    }
  });

  describe('a schema that is newer than this version', () => {
    const database = newDatabase();
    before(async () => {
      await run(['import'], database, plantLines(1, 3));
      const file = await SqliteFile.open(fileOf(database));
      await file.exec("INSERT INTO plant_store_migrations (name, batch) VALUES ('002_of_the_future', 2)");
      await file.close();
    });

    for (const args of [['serve'], ['import'], ['export'], ['migrate'], ['migrate', '--dry-run']]) {
      it(`is refused by ${args.join(' ')} with a sentence and exit code 1, and stays as it is`, async () => {
        const before = readFileSync(fileOf(database));
        const { exitCode, stdout, stderr } = await run(args, { ...database, PORT: '0' }, plantLines(4, 1));
        expect([exitCode, stdout]).to.deep.equal([1, '']);
        expect(linesOf(stderr)).to.have.lengthOf(1);
        expect(stderr).to.match(
          /^plant-store: cannot open .*: its schema is newer than this version of plant-store \(it has 002_of_the_future\); start a newer version$/m,
        );
        expect(await plantsIn(fileOf(database))).to.have.lengthOf(3);
        expect(readFileSync(fileOf(database)).equals(before)).to.equal(true);
      });
    }
  });

  describe('a driver that is not installed', () => {
    const scratch = join(folder, 'without-drivers');
    before(() => {
      mkdirSync(join(scratch, 'node_modules'), { recursive: true });
      cpSync(join(root, 'package.json'), join(scratch, 'package.json'));
      cpSync(join(root, 'dist'), join(scratch, 'dist'), {
        recursive: true,
        filter: (path) => !path.startsWith(join(root, 'dist', 'test')),
      });
      const missing = ['pg', 'mysql2', 'sqlite3'];
      for (const name of readdirSync(join(root, 'node_modules'))) {
        if (missing.includes(name) || name.startsWith('.')) continue;
        symlinkSync(join(root, 'node_modules', name), join(scratch, 'node_modules', name));
      }
      writeFileSync(join(scratch, 'dist', 'composition', 'no-driver.db'), '');
    });

    for (const [driver, url] of [
      ['pg', 'postgres://user:canary@127.0.0.1:1/plants'],
      ['mysql2', 'mysql://user:canary@127.0.0.1:1/plants'],
      ['sqlite3', 'sqlite:no-driver.db'],
    ] as const) {
      for (const command of ['serve', 'export', 'migrate']) {
        it(`is named with the command that installs it: ${driver}, by ${command}`, async () => {
          const cli = join(scratch, 'dist', 'composition', 'cli.js');
          const program = new Program(dirname(cli), [process.execPath, cli, command], { DATABASE_URL: url, PORT: '0' });
          const exitCode = await program.exited();
          expect([exitCode, program.stdout]).to.deep.equal([1, '']);
          expect(linesOf(program.stderr), program.stderr).to.have.lengthOf(1);
          expect(program.stderr).to.match(
            RegExp(`^plant-store: cannot open .*: the driver ${driver} is not installed: npm install ${driver}\n$`),
          );
          expect(program.stderr).not.to.include('canary');
        });
      }
    }
  });
});
