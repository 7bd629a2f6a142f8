import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';
import { expectSnapshot } from '../support/snapshot.js';
import { temporaryFolder } from '../support/temporary.js';
import { installed, outputOf } from './interop.js';

const packageJson = inRepository('package.json');
const TARGETS = Object.entries<string>(JSON.parse(readFileSync(packageJson, 'utf8')).exports).filter(
  ([path, target]) => path !== '.' && target.endsWith('.js'),
);
const reportOf = (entryPoint: string) => `${entryPoint.slice('./'.length).replaceAll('/', '-')}.api.md`;

/** Writes the report of an entry point with API Extractor. */
function writeReport(entryPoint: string, target: string, folder: string): void {
  const { Extractor, ExtractorConfig } = createRequire(installed('.'))('@microsoft/api-extractor');
  const silent = { default: { logLevel: 'none' } };
  const language = { module: 'nodenext', target: 'es2023', lib: ['es2024'], types: ['node'] };
  const overrideTsconfig = { compilerOptions: { ...language, strict: true, skipLibCheck: true } };
  const config = ExtractorConfig.prepare({
    packageJsonFullPath: packageJson,
    configObject: {
      projectFolder: inRepository(''),
      mainEntryPointFilePath: inRepository(target.replace(/\.js$/, '.d.ts')),
      compiler: { overrideTsconfig },
      apiReport: {
        enabled: true,
        reportFileName: reportOf(entryPoint),
        reportFolder: folder,
        reportTempFolder: folder,
      },
      messages: {
        compilerMessageReporting: silent,
        tsdocMessageReporting: silent,
        // A signature uses a type that this entry point does not export.
        extractorMessageReporting: { ...silent, 'ae-forgotten-export': { logLevel: 'none', addToApiReportFile: true } },
      },
    },
  });
  // Ignore all messages but errors.
  const messageCallback = (message: { logLevel: string; handled: boolean }) => {
    message.handled = message.logLevel !== 'error';
  };
  expect(Extractor.invoke(config, { localBuild: true, messageCallback })).to.include({ succeeded: true });
}

describe('The types of', () => {
  let folder: string;
  before(() => {
    folder = temporaryFolder();
    for (const [path, target] of TARGETS) writeReport(path, target, folder);
  });
  const read = (entryPoint: string) => readFileSync(join(folder, reportOf(entryPoint)), 'utf8');

  for (const [path] of TARGETS) {
    it(`${path.replace('.', 'plant-store')} match the API report`, () => {
      expectSnapshot(`docs/api/${reportOf(path)}`, read(path));
    });
  }

  it('all entry points refer only to types that an entry point exports', () => {
    const text = TARGETS.map(([path]) => read(path)).join('\n');
    const matches = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name);
    const exported = matches(/^export (?:abstract )?\w+ (\w+)/gm);
    const named = matches(/\(ae-forgotten-export\) The symbol "([A-Z][^"]*)"/g);
    expect(named.filter((name) => !exported.includes(name))).to.deep.equal([]);
  });
});

describe('The API reference', () => {
  it('is generated without a warning, with a page for each entry point', () => {
    const folder = temporaryFolder();
    expect(outputOf(inRepository(''), ['npm', 'run', '--silent', 'docs', '--', '--out', folder])).to.equal('');
    const modules = TARGETS.map(([, target]) => target.replace(/^\.\/dist\/|\/index\.js$/g, '').replaceAll('/', '_'));
    expect(modules.filter((name) => !existsSync(join(folder, 'modules', `${name}.html`)))).to.deep.equal([]);
  });
});
