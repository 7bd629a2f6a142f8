import { inRepository } from '../support/paths.js';

await import(inRepository('docs/examples/unit-tests/create-plant.test.js'));
