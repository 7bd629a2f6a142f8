import { readFileSync } from 'node:fs';
/** The one description of the interface: `docs/openapi.yaml`, which the build turns into JSON. */
export function loadDescription() {
    return JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));
}
//# sourceMappingURL=description.js.map