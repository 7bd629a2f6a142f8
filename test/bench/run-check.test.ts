import { expect } from 'chai';
import { describe, it } from 'mocha';
import { checkRun, type LoadCounts } from './harness/run-check.js';

const load: LoadCounts = { responses: 100, failures: 0, broken: 0, connections: 4 };
const killed: LoadCounts = { ...load, responses: 10, broken: 50 };

describe('The check of a benchmark run', () => {
  it('accepts one row per response', () => {
    expect(checkRun([load, load], killed, 210)).to.equal(undefined);
  });

  it('accepts one additional row per connection of each load, and no more', () => {
    expect(checkRun([load, load], killed, 222)).to.equal(undefined);
    expect(checkRun([load, load], killed, 223)).to.include('223 rows');
  });

  it('accepts a program that stores nothing', () => {
    expect(checkRun([load], killed, undefined)).to.equal(undefined);
  });

  it('rejects a run that lost an acknowledged plant', () => {
    expect(checkRun([load, load], killed, 209)).to.equal('1 of 210 acknowledged plants are missing');
  });

  it('rejects a response that is not 2xx, even in the load that was killed', () => {
    expect(checkRun([{ ...load, failures: 1 }], killed, 110)).to.equal('1 responses were not 2xx');
    expect(checkRun([load], { ...killed, failures: 2 }, 110)).to.equal('2 responses were not 2xx');
  });

  it('rejects a connection that broke before the kill, and a load without a response', () => {
    expect(checkRun([{ ...load, broken: 1 }], killed, 110)).to.include('broke');
    expect(checkRun([{ ...load, responses: 0 }], killed, 10)).to.equal('a load got no response');
  });
});
