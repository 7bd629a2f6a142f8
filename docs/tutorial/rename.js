// Renames a word in the paths and the contents of all text files that git tracks: node docs/tutorial/rename.js plant book
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const [from = '', to = ''] = process.argv.slice(2);
const capitalize = (word) => word.charAt(0).toUpperCase() + word.slice(1);

function rename(text) {
  return text
    .replaceAll(from, to)
    .replaceAll(capitalize(from), capitalize(to))
    .replaceAll(from.toUpperCase(), to.toUpperCase());
}

const files = execFileSync('git', ['grep', '-lzI', ''], { encoding: 'utf8', maxBuffer: 2 ** 26 }).split('\0');
for (const file of files.filter(Boolean)) {
  const text = readFileSync(file, 'utf8');
  const renamed = rename(file);
  mkdirSync(dirname(renamed), { recursive: true });
  if (renamed !== file) rmSync(file);
  if (renamed !== file || rename(text) !== text) writeFileSync(renamed, rename(text));
}
