import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../support/catch-error.js';
import { type Import, importsIn } from '../support/imports.js';
import { expectSnapshot } from '../support/snapshot.js';
import { drawHexagon } from './hexagon.js';

describe('docs/hexagon.svg', () => {
  const imports = ['core', 'adapters', 'composition'].flatMap(importsIn);
  const plus = (...added: Import[]): Import[] => [...imports, ...added];
  const wires = (adapter: string): Import => ({ from: '/composition/container.ts', to: adapter, names: [] });
  const xOf = (svg: string, label: string) => Number(new RegExp(`x="([\\d.]+)"[^>]*>${label}<`).exec(svg)?.[1]);
  /** Returns whether an arrow connects two boxes. Graphviz escapes names in its comments. */
  const connects = (svg: string, left: string, right: string) => svg.includes(`<!-- ${left}&#45;&gt;${right} -->`);

  it('matches the imports of the code', async () => {
    expectSnapshot('docs/hexagon.svg', await drawHexagon(imports));
  });

  it('places a new adapter that implements a port on the driven side', async () => {
    const port = { from: '/adapters/driven/redis/index.ts', to: '/core/index', names: ['PlantRepository'] };
    const svg = await drawHexagon(plus(port, wires('/adapters/driven/redis/index')));
    expect(connects(svg, 'PlantRepository', 'redis')).to.equal(true);
    expect(xOf(svg, 'redis')).to.equal(xOf(svg, 'knex'));
  });

  it('places a new adapter that calls a driving port on the driving side', async () => {
    const port = { from: '/adapters/driving/nats/index.ts', to: '/core/index', names: ['CreatePlantUseCase'] };
    const svg = await drawHexagon(plus(port, wires('/adapters/driving/nats/index')));
    expect(connects(svg, 'nats', 'CreatePlantUseCase')).to.equal(true);
    expect(xOf(svg, 'nats')).to.equal(xOf(svg, 'koa'));
  });

  it('places a new use case and a new port in the core', async () => {
    const useCase = { from: '/core/water-plant.ts', to: '/core/ports/driven/watering-can', names: ['WateringCan'] };
    const svg = await drawHexagon(plus(useCase));
    expect(xOf(svg, 'WaterPlant')).to.equal(xOf(svg, 'CreatePlant'));
    expect(xOf(svg, 'WateringCan')).to.equal(xOf(svg, 'PlantRepository'));
  });

  it('shows a new import between adapters', async () => {
    const svg = await drawHexagon(
      plus({ from: '/adapters/driving/koa/app.ts', to: '/adapters/driving/ndjson/index', names: [] }),
    );
    expect(connects(svg, 'koa', 'ndjson')).to.equal(true);
  });

  for (const [what, changed, message] of [
    [
      'an import that points out of the core',
      plus({ from: '/core/plant.ts', to: '/adapters/driving/api/index', names: ['apiErrors'] }),
      '/core/plant must not import /adapters/driving/api',
    ],
    [
      'an import that points from an adapter to composition',
      plus({ from: '/adapters/driven/jwt/index.ts', to: '/composition/index', names: [] }),
      '/adapters/driven/jwt must not import /composition',
    ],
    [
      'an adapter that composition does not import',
      imports.filter(({ from, to }) => !from.startsWith('/composition/') || to !== '/adapters/driven/memory/index'),
      'composition does not import /adapters/driven/memory',
    ],
  ] as const) {
    it(`rejects ${what}`, async () => {
      expect(`${await catchError(drawHexagon(changed))}`).to.include(message);
    });
  }
});
