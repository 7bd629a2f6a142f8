export { readPlants } from '../contract/repository-checks.js';
