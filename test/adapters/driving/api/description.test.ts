import { expect } from 'chai';
import { it } from 'mocha';
import { operationsOf } from '../../../../adapters/driving/api/index.js';

it('operationsOf returns the operations of each path with their methods in upper case, and HEAD with GET', () => {
  const paths = {
    '/plants': { get: { operationId: 'list' }, post: { operationId: 'create', requestBody: {} } },
  };
  expect(operationsOf({ openapi: '3.1.0', paths })).to.deep.equal([
    { operationId: 'list', method: 'GET', path: '/plants', hasBody: false },
    { operationId: 'list', method: 'HEAD', path: '/plants', hasBody: false },
    { operationId: 'create', method: 'POST', path: '/plants', hasBody: true },
  ]);
});
