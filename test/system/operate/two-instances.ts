import { expect } from 'chai';
import { serve } from '../../support/client.js';
import { CLIENTS, Load } from '../load.js';

/** Starts two instances of the service on the same database. */
export async function startTwoInstances(folder: string, url: string) {
  const start = async (PORT: string) => {
    const instance = serve(folder, { DATABASE_URL: url, PORT, LOG_LEVEL: 'warn' });
    return { instance, port: await instance.port() };
  };
  const running = [await start('0'), await start('0')];
  return {
    ports: running.map(({ port }) => port),
    /** Restarts them in turn while clients create plants through a proxy, and returns the load, stopped. */
    async restartInTurn(proxyPort: number): Promise<Load> {
      const load = new Load();
      load.start(proxyPort);
      for (let restart = 0; restart < 6; restart++) {
        await load.waitForOutcomes(CLIENTS, 200);
        const next = running.shift();
        expect(await next?.instance.stop()).to.equal(0);
        await load.waitForOutcomes(20, 200);
        running.push(await start(`${next?.port}`));
      }
      await load.waitForOutcomes(CLIENTS, 200);
      await load.stop();
      return load;
    },
  };
}
