import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'mocha';
/** A new folder of its own, which is removed when the surrounding suite ends. Call it inside `describe` or a hook. */
export function temporaryFolder() {
    const folder = mkdtempSync(join(tmpdir(), 'plant-store-'));
    after(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
}
//# sourceMappingURL=temporary.js.map