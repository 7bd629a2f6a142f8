import type { PlantRepositoryHarness } from '@plant-store/contract';
import {
  type AddOutcome,
  type OpenPlantRepository,
  type Plant,
  type PlantId,
  StorageUnavailable,
} from '@plant-store/core';
import { toPlant } from '../support/plants.js';

const REJECTED_PLANT: Plant = toPlant({ id: 77_001_001n, name: 'forbidden-name', tag: 'forbidden-tag' });

/** Storage that survives its repositories and can become unavailable. */
export class Disk {
  plants = new Map<PlantId, Plant>();
  isUnavailable = false;
  /** Whether the last repository that opened it has not closed it. */
  isOpen = false;
}

/** A repository, with the part of `add` that most faults change. */
interface Repository extends OpenPlantRepository {
  addOne(plant: Plant): AddOutcome;
}

/** Returns the members of a correct repository that it replaces. Is called when the disk is opened. */
export type Fault = (correct: Repository, disk: Disk) => Partial<Repository>;

/** Opens a correct repository, except for the fault. */
function openRepository(disk: Disk, fault: Fault): Repository {
  let isClosed = false;
  const check = () => {
    if (isClosed || disk.isUnavailable) throw new StorageUnavailable('the disk is unavailable');
  };
  const correct: Repository = {
    addOne: (plant) => {
      if (plant.equals(REJECTED_PLANT)) return { kind: 'rejected', error: new Error('the disk rejects the plant') };
      const stored = disk.plants.get(plant.id);
      if (stored !== undefined) return { kind: 'conflict', stored };
      disk.plants.set(plant.id, plant);
      return { kind: 'added' };
    },
    add: async (plants) => {
      check();
      return plants.map((plant) => repository.addOne(plant));
    },
    find: async (id) => {
      check();
      return disk.plants.get(id);
    },
    read: async (from, limit) => {
      check();
      const plants = [...disk.plants.values()].filter(({ id }) => id >= from);
      return plants.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
    },
    ready: async () => check(),
    close: async () => {
      isClosed = true;
      disk.isOpen = false;
    },
  };
  const repository = { ...correct, ...fault(correct, disk) };
  disk.isOpen = true;
  return repository;
}

/** Creates the harness of a repository, by default a correct one. */
export function createHarness(fault: Fault = () => ({})): Required<PlantRepositoryHarness> {
  let disk: Disk;
  const reopen = async () => openRepository(disk, fault);
  return {
    open: () => {
      disk = new Disk();
      return reopen();
    },
    reopen,
    openAnother: reopen,
    whileUnavailable: async (work) => {
      disk.isUnavailable = true;
      await work().finally(() => {
        disk.isUnavailable = false;
      });
    },
    rejectedPlant: () => REJECTED_PLANT,
  };
}
