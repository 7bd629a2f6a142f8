/** Writes what each entry point offers, as API Extractor sees it, into a folder: `node api-reports.js FOLDER`. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = resolve(process.argv[2]);
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
mkdirSync(folder, { recursive: true });
const silent = { default: { logLevel: 'none' } };

for (const [entry, target] of Object.entries(exports)) {
  if (!target.endsWith('.js')) continue;
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, 'package.json'),
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: join(root, target.replace(/\.js$/, '.d.ts')),
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            module: 'nodenext',
            target: 'es2023',
            lib: ['es2024'],
            types: ['node'],
            strict: true,
            skipLibCheck: true,
          },
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: `${entry.slice('./'.length).replaceAll('/', '-')}.api.md`,
        reportFolder: folder,
        reportTempFolder: join(folder, 'temp'),
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: silent,
        tsdocMessageReporting: silent,
        extractorMessageReporting: {
          ...silent,
          // A type that a signature names and this entry point does not offer; api.test.ts looks whether another does.
          'ae-forgotten-export': { logLevel: 'none', addToApiReportFile: true },
        },
      },
    },
  });
  // That the reports are new is no news: the test compares them.
  const messageCallback = (message) => {
    message.handled = message.logLevel !== 'error';
  };
  const { succeeded } = Extractor.invoke(config, { localBuild: true, messageCallback });
  if (!succeeded) process.exitCode = 1;
}
