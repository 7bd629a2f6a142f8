// Raises the versions of all packages, the ranges between them, the names of archives and the label of the image.
// `npm version` runs it.
import { readFileSync, writeFileSync } from 'node:fs';

const version = process.env.npm_new_version;

for (const path of ['package.json', 'core/package.json', 'adapters/package.json', 'test/contract/package.json'])
  replace(path, /(?<=^ {2}"version": "|"@plant-store\/\w+": "\^)[^"]+/gm);
replace('docs/versions.md', /(?<=plant-store-(core-|adapters-)?)\d[^"`]*(?=\.tgz)/g);
replace('Containerfile', /(?<=image\.version=")[^"]+/);

function replace(path, versions) {
  writeFileSync(path, readFileSync(path, 'utf8').replace(versions, version));
}
