import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { Program } from '../support/executable.js';
import { codeBlocks } from '../support/guide.js';
import { inRepository } from '../support/paths.js';
import { skipUnless } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { installed, installPackage, outputOf, pack } from './interop.js';

const PUBLISHED = [
  /^(package\.json|(README|CHANGELOG|CONTRIBUTING)\.md|LICENSE|dist\/openapi\.json)$/,
  /^dist\/(core|adapters|composition|test\/contract)\/[\w/-]+(\.js|\.d\.ts)(\.map)?$/,
  // The sources that the source maps name.
  /^(core|adapters|composition|test\/contract)\/[\w/-]+(?<!\.test)\.ts$/,
  /^dist\/adapters\/driving\/koa\/docs-page\/[\w/.-]+$/,
  /^docs\//,
];

describe('The packed package', () => {
  let folder: string;
  before(() => {
    folder = installPackage();
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  });
  const run = (program: string) => {
    writeFileSync(join(folder, 'program.js'), program);
    return outputOf(folder, [process.execPath, 'program.js']);
  };

  it('contains code, types, mapped sources and documentation, and nothing else', () => {
    const entries = readdirSync(join(folder, 'node_modules/plant-store'), { recursive: true, withFileTypes: true });
    const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const files = paths.map((path) => path.slice(path.indexOf('plant-store/') + 'plant-store/'.length));
    expect(files.filter((file) => !PUBLISHED.some((pattern) => pattern.test(file)))).to.deep.equal([]);
    expect(files).to.include.members(['core/plant.ts', 'dist/core/plant.js.map', 'dist/core/plant.d.ts']);
  });

  it('has no install script, and is smaller than 1.3 MB', () => {
    const { scripts } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8'));
    expect(scripts).to.not.have.any.keys('preinstall', 'install', 'postinstall', 'prepare');
    expect(statSync(pack()).size).to.be.lessThan(1_300_000);
  });

  for (const [compiler, module, moduleResolution] of [
    [installed('typescript/bin/tsc'), 'nodenext', 'nodenext'],
    [inRepository('node_modules/typescript/bin/tsc'), 'nodenext', 'nodenext'],
    [inRepository('node_modules/typescript/bin/tsc'), 'esnext', 'bundler'],
  ] as const) {
    const { version } = JSON.parse(readFileSync(join(compiler, '../../package.json'), 'utf8'));
    it(`has types for TypeScript ${version}, --moduleResolution ${moduleResolution}`, () => {
      copyFileSync(inRepository('test/interop/consumer.ts'), join(folder, 'consumer.ts'));
      const options = { module, moduleResolution, noEmit: true, strict: true, target: 'es2022', types: ['node'] };
      const compilerOptions = { ...options, exactOptionalPropertyTypes: true, skipLibCheck: true };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
      outputOf(folder, [process.execPath, compiler, '-p', '.']);
    });
  }

  const programs = codeBlocks(readFileSync(inRepository('docs/embed.md'), 'utf8')).filter(
    ({ language }) => language === 'js',
  );
  for (const [index, { text }] of programs.entries()) {
    it(`prints what program ${index + 1} of the embedding guide states`, () => {
      const stated = [...text.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, output]) => `${output}\n`);
      expect(stated).to.have.lengthOf.at.least(1);
      expect(run(text)).to.equal(stated.join(''));
    });
  }

  it('installs in an empty folder without optional dependencies, and serves from memory', async function () {
    const empty = temporaryFolder();
    const hasRegistry = () => outputOf(empty, ['npm', 'ping']) !== undefined;
    skipUnless(this, hasRegistry(), 'an npm registry');
    outputOf(empty, ['npm', 'install', '--omit=optional', '--no-audit', '--no-fund', pack()]);
    const command = ['node_modules/.bin/plant-store', 'serve'] as const;
    const service = new Program(empty, command, { PORT: '0', DATABASE_URL: 'memory:' });
    const [, url = '', token] = await service.waitForOutput(/^curl -i (\S+) -H 'Authorization: Bearer ([^']+)'/m);
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: '{"id":1,"name":"Monstera"}' });
    expect([response.status, await response.json()]).to.deep.equal([200, { name: 'Monstera' }]);
  });
});
