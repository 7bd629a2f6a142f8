import { expect } from 'chai';
import { describe, it } from 'mocha';
import { errorReply, failureReply } from '#adapters/driving/http/reply.js';

describe('errorReply', () => {
  it('has the status, the headers and the Error object of the error, and its number for the log', () => {
    const reply = errorReply({ error: 42901, message: 'Later', headers: { 'Retry-After': '9' } }, { reason: 'limit' });
    expect(reply).to.deep.equal({
      status: 429,
      headers: { 'Content-Type': 'application/json', 'Retry-After': '9' },
      body: '{"error":42901,"message":"Later"}',
      log: { error: 42901, reason: 'limit' },
    });
  });
});

describe('failureReply', () => {
  it('reveals nothing of the failure, even if it has members that libraries use, and keeps it for the log', () => {
    const cause = Object.assign(new Error('secret'), { status: 400, expose: true, headers: { Secret: 'x' } });
    const reply = failureReply(cause);
    expect(reply).to.include({ status: 500 }).and.have.nested.property('log.cause', cause);
    expect(reply.headers).to.deep.equal({ 'Content-Type': 'application/json' });
    expect(reply.body).to.include('50001').and.not.include('secret');
  });
});
