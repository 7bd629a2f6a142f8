import { apiErrors, openApiDescription } from '@plant-store/adapters/api';
import { createConfig, lint } from '@redocly/openapi-core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { DESCRIPTION_FILE, declaredResponses, description, errorsOf } from '../../../support/description.js';

describe('The description', () => {
  it('is docs/openapi.yaml, and cannot be changed', () => {
    expect(openApiDescription).to.deep.equal(description);
    expect(openApiDescription.paths['/plants'].post.responses).to.be.frozen;
  });

  it('passes the recommended rules of the linter', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    expect(await lint({ ref: DESCRIPTION_FILE, config })).to.deep.equal([]);
  });

  it('declares every error number, except the two that belong to no operation', () => {
    const declared = declaredResponses.flatMap(errorsOf);
    const missing = Object.values(apiErrors).filter(({ error }) => !declared.includes(error));
    expect(missing).to.deep.equal([apiErrors.noSuchPath, apiErrors.methodNotAllowed]);
  });
});
