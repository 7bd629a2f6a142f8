/** Writes an API Extractor report for each entry point: `node api-reports.js FOLDER`. */
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
  if (entry === '.' || !target.endsWith('.js')) continue;
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
          // A signature uses a type that this entry point does not export; api.test.ts checks whether another one does.
          'ae-forgotten-export': { logLevel: 'none', addToApiReportFile: true },
        },
      },
    },
  });
  // Ignore all messages but errors; the test compares the reports.
  const messageCallback = (message) => {
    message.handled = message.logLevel !== 'error';
  };
  const { succeeded } = Extractor.invoke(config, { localBuild: true, messageCallback });
  if (!succeeded) process.exitCode = 1;
}
