import { type NewPlant, Plant } from '../../core/index.js';

/** Creates a plant; throws if it is invalid. */
export function toPlant(candidate: NewPlant): Plant {
  const result = Plant.from(candidate);
  if (result.kind === 'valid') return result.plant;
  throw new TypeError(result.violations.map(({ message }) => message).join('; '));
}
