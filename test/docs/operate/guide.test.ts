import { expect } from 'chai';
import { describe, it } from 'mocha';
import { commandBlocks, headingsNotRun, headingsRun } from './guide.js';

describe('The guide to operating', () => {
  it('has no command that neither a test runs nor the list of those that none can run names', () => {
    expect([...commandBlocks().keys()]).to.have.members([...Object.keys(headingsRun), ...Object.keys(headingsNotRun)]);
  });
});
