import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { parse, parseAllDocuments } from 'yaml';
import { inRepository } from '../support/paths.js';
import { folderWithPackages, installed, outputOf } from './interop.js';

const read = (name: string) => readFileSync(inRepository(`docs/operate/${name}`), 'utf8');

describe('In docs/operate', () => {
  it('compose.yaml matches the schema of the Compose specification', () => {
    const { $schema: _, ...schema } = JSON.parse(readFileSync(installed('dclint/schemas/compose.schema.json'), 'utf8'));
    const ajv = new Ajv({ strict: false, validateFormats: false });
    expect(ajv.validate(schema, parse(read('compose.yaml'))), ajv.errorsText()).to.equal(true);
  });

  it('kubernetes.yaml has the kinds of Kubernetes, with all required fields and no unknown one', () => {
    const folder = folderWithPackages();
    const manifests = parseAllDocuments(read('kubernetes.yaml')).map((each) => each.toJS());
    // The compiler rejects unknown properties of a literal.
    const lines = manifests.map(
      ({ apiVersion, kind, ...manifest }, index) =>
        `import type { I${kind} as Kind${index} } from 'kubernetes-models/${apiVersion}';
         export const manifest${index}: Kind${index} = ${JSON.stringify({ apiVersion, kind, ...manifest })};`,
    );
    writeFileSync(join(folder, 'manifests.ts'), lines.join('\n'));
    const compiler = inRepository('node_modules/typescript/bin/tsc');
    const options = '--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target esnext'.split(' ');
    expect(outputOf(folder, [process.execPath, compiler, ...options, 'manifests.ts'])).to.equal('');
  });
});
