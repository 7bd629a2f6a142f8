import { writeFileSync } from 'node:fs';
import { importsIn } from '../support/imports.js';
import { inRepository } from '../support/paths.js';
import { hexagonOf } from './hexagon.js';

// `npm run diagram`
const imports = ['core', 'adapters', 'composition'].flatMap(importsIn);
writeFileSync(inRepository('docs/hexagon.svg'), hexagonOf(imports));
