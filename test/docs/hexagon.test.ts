import { expect } from 'chai';
import { describe, it } from 'mocha';
import { expectAccepted } from '../support/accepted.js';
import { type Import, importsIn } from '../support/imports.js';
import { hexagonOf } from './hexagon.js';

describe('docs/hexagon.svg', () => {
  const imports = ['core', 'adapters', 'composition'].flatMap(importsIn);
  const without = (from: string, to: string) =>
    imports.filter((one) => !(one.from.startsWith(from) && (one.to === to || one.names.includes(to))));
  const and = (from: string, to: string, ...names: string[]): Import[] => [...imports, { from, to, names }];

  it('is what the imports of the code draw', () => {
    expectAccepted('docs/hexagon.svg', hexagonOf(imports));
  });

  const changes: Readonly<Record<string, [readonly Import[], RegExp]>> = {
    'a new adapter': [and('/adapters/redis/index.ts', 'redis'), /no place for \/adapters\/redis;/],
    'a new file of the core': [and('/core/water-plant.ts', '/core/plant'), /no place for \/core\/water-plant;/],
    'an adapter that is gone': [
      imports.filter(({ from, to }) => !`${from} ${to}`.includes('/adapters/memory/')),
      /shows what is not there: \/adapters\/memory;/,
    ],
    'an import between adapters': [
      and('/adapters/koa/app.ts', '/adapters/ndjson/index', 'importPlants'),
      /no arrow for \/adapters\/koa → \/adapters\/ndjson;/,
    ],
    'another port': [
      and('/adapters/jwt/index.ts', '/core/index', 'PlantRepository'),
      /no arrow for \/adapters\/jwt → \/core\/plant-repository;/,
    ],
    'an arrow outward': [
      and('/core/plant.ts', '/adapters/wire/index', 'rejections'),
      /no arrow for \/core\/plant → \/adapters\/wire;/,
    ],
    'the whole core': [and('/adapters/jwt/index.ts', '/core/index'), /no arrow for \/adapters\/jwt → \/core\/index;/],
    'a port that is let go': [
      without('/adapters/management', 'PlantRepository'),
      /not there: \/adapters\/management → \/core\/plant-repository;/,
    ],
    'an adapter that composition does not wire': [
      without('/composition', '/adapters/memory/index'),
      /composition wire \/adapters\/memory;/,
    ],
  };
  for (const [what, [changed, message]] of Object.entries(changes)) {
    it(`is not drawn with ${what}`, () => {
      expect(() => hexagonOf(changed)).to.throw(message);
    });
  }
});
