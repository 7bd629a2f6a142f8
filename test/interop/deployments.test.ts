import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { parse } from 'yaml';
import { inRepository } from '../support/paths.js';
import { installed } from './interop.js';

const read = (name: string) => readFileSync(inRepository(`docs/operate/${name}`), 'utf8');

describe('In docs/operate', () => {
  it('compose.yaml matches the schema of the Compose specification', () => {
    const { $schema: _, ...schema } = JSON.parse(readFileSync(installed('dclint/schemas/compose.schema.json'), 'utf8'));
    const ajv = new Ajv({ strict: false, validateFormats: false });
    expect(ajv.validate(schema, parse(read('compose.yaml'))), ajv.errorsText()).to.equal(true);
  });
});
