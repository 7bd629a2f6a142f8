import type { TestPlant } from '../support/plants.js';
import { toPlant } from '../support/plants.js';

/** One create, as its client observed it. Times are from `performance.now()`. */
export interface Operation {
  readonly plant: TestPlant;
  /** `200`, the number of the Error object, or `undefined` if the connection ended without a response. */
  readonly outcome: unknown;
  readonly sentAt: number;
  /** When the response arrived or the connection ended. */
  readonly endedAt: number;
}

/** Outcomes that determine whether the plant is stored. After any other, it may have been stored. */
export const conclusive: readonly unknown[] = [200, 40901, 40902];

/** A violated rule and the operation that violates it; for the last rule, the stored plant. */
type Violation = Readonly<{ rule: string; by: Operation | TestPlant }>;

/**
 * Checks a history for linearizability: each id is a write-once register, written atomically between the start and the end
 * of one create.
 *
 * @param history every create that was sent and has ended, in any order
 * @param stored every plant in the store afterwards
 */
export function violationsOf(history: Iterable<Operation>, stored: Iterable<TestPlant>): Violation[] {
  const holders = new Map([...stored].map((plant) => [plant.id, plant]));
  const operations = new Map<bigint, Operation[]>([...holders.keys()].map((id) => [id, []]));
  for (const operation of history) {
    const { id } = operation.plant;
    operations.set(id, [...(operations.get(id) ?? []), operation]);
  }
  return [...operations].flatMap(([id, ofId]) => violationsOfId(ofId, holders.get(id)));
}

/** @param holder the plant stored under the id */
function violationsOfId(operations: readonly Operation[], holder: TestPlant | undefined): Violation[] {
  const byEnd = [...operations].sort((one, other) => one.endedAt - other.endedAt);
  const acknowledged = byEnd.filter(({ outcome }) => outcome === 200 || outcome === 40902);
  const created = byEnd.filter(({ outcome }) => outcome === 200);
  const conflicts = byEnd.filter(({ outcome }) => outcome === 40901);
  // The plant was stored by the create that got 200 or, if none did, by one whose outcome is unknown.
  const unknown = byEnd.filter(({ outcome, plant }) => !conclusive.includes(outcome) && isSame(plant, holder));
  const storedFrom = Math.min(...(created.length > 0 ? created : unknown).map(({ sentAt }) => sentAt));
  const isEarly = ({ outcome, endedAt }: Operation) => outcome !== 200 && endedAt < storedFrom;
  const isHolderSent = holder === undefined || operations.some(({ plant }) => isSame(plant, holder));

  const broken: Record<string, readonly (Operation | TestPlant)[]> = {
    'an acknowledged plant is lost or altered': acknowledged.filter(({ plant }) => !isSame(plant, holder)),
    '200 was sent twice for one id': created.slice(1),
    '40901 was sent, but no other plant is stored': conflicts.filter(({ plant }) => !holder || isSame(plant, holder)),
    '409 was sent before a plant could have been stored': [...acknowledged, ...conflicts].filter(isEarly),
    'a plant that no client sent is stored': isHolderSent ? [] : [holder],
  };
  return Object.entries(broken).flatMap(([rule, breakers]) => breakers.map((by) => ({ rule, by })));
}

function isSame(one: TestPlant, other: TestPlant | undefined): boolean {
  return other !== undefined && toPlant(one).equals(toPlant(other));
}
