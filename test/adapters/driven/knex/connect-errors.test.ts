import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { mysqlDatabase, openRepository, postgresDatabase } from '../../../../adapters/driven/knex/index.js';
import { catchError } from '../../../support/catch-error.js';
import { portOf } from '../../../support/port.js';

/** What a server does with a connection, and the reason. */
const BROKEN: Readonly<Record<string, readonly [(socket: Socket) => unknown, RegExp]>> = {
  'does not respond': [() => {}, /: the server did not respond in time; check the address and the port$/],
  'ends the connection': [(socket) => socket.end(), / closed the connection; check the address/],
  'resets the connection': [(socket) => socket.resetAndDestroy(), / closed the connection; check the address/],
};

for (const [engine, describeDatabase] of Object.entries({ postgres: postgresDatabase, mysql: mysqlDatabase })) {
  describe(`The error of a database at ${engine}: names the reason, without the password, if the server`, () => {
    const expectReason = async (host: string, reason: RegExp) => {
      const database = describeDatabase({ url: `${engine}://root:canary@${host}/test`, timeoutMs: 500 });
      expect(`${await catchError(openRepository(database))}`)
        .to.match(reason)
        .and.not.include('canary');
    };

    it('does not run', () => expectReason('127.0.0.1:1', /: connection refused; check the address and that the/));

    it('has an unknown name', () =>
      expectReason(
        'plants.invalid',
        /: (unknown host name; check the address|the name server did not .*; check DNS)$/,
      ));

    for (const [what, [onConnection, reason]] of Object.entries(BROKEN)) {
      it(what, async () => {
        const server = createServer(onConnection);
        await once(server.listen(0, '127.0.0.1'), 'listening');
        await expectReason(`127.0.0.1:${portOf(server)}`, reason);
        server.close();
      });
    }
  });
}
