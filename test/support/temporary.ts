import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'mocha';

/** Creates a folder, which the surrounding suite removes at its end. Call it inside `describe` or a hook. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
