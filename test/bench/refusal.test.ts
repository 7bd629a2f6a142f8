import { expect } from 'chai';
import { describe, it } from 'mocha';
import { refusalOf, type Seen } from './harness/refusal.js';

const load: Seen = { answers: 100, failures: 0, broken: 0, connections: 4 };
const killed: Seen = { ...load, answers: 10, broken: 50 };

describe('A bench tells a figure', () => {
  it('where every answer is a row', () => {
    expect(refusalOf([load, load], killed, 210)).to.equal(undefined);
  });

  it('where more rows are there than answers, one for each connection of each load', () => {
    expect(refusalOf([load, load], killed, 222)).to.equal(undefined);
    expect(refusalOf([load, load], killed, 223)).to.include('223 rows');
  });

  it('of a program that stores nothing', () => {
    expect(refusalOf([load], killed, undefined)).to.equal(undefined);
  });

  it('but not where an answered plant is missing', () => {
    expect(refusalOf([load, load], killed, 209)).to.equal('1 of 210 answered plants are missing');
  });

  it('nor where an answer was no success, under the kill either', () => {
    expect(refusalOf([{ ...load, failures: 1 }], killed, 110)).to.equal('1 answers were no success');
    expect(refusalOf([load], { ...killed, failures: 2 }, 110)).to.equal('2 answers were no success');
  });

  it('nor where a connection broke before the kill, or nothing was answered', () => {
    expect(refusalOf([{ ...load, broken: 1 }], killed, 110)).to.include('broke');
    expect(refusalOf([{ ...load, answers: 0 }], killed, 10)).to.equal('a load got no answer');
  });
});
