import { describe } from 'mocha';
import { bodies } from './suite/bodies.js';
import { conflicts } from './suite/conflicts.js';
import { credentials } from './suite/credentials.js';
import { earlyRefusals } from './suite/early-refusals.js';
import { encodings } from './suite/encodings.js';
import { expectations } from './suite/expectations.js';
import { limits } from './suite/limits.js';
import { logs } from './suite/logs.js';
import { malformedHttp } from './suite/malformed-http.js';
import { mediaTypes } from './suite/media-types.js';
import { order } from './suite/order.js';
import { paths } from './suite/paths.js';
import { pipelines } from './suite/pipelines.js';
import { plants } from './suite/plants.js';
import { properties } from './suite/properties.js';
import { requestIds } from './suite/request-ids.js';
import { sizes } from './suite/sizes.js';
import { stopping } from './suite/stopping.js';
import { storage } from './suite/storage.js';
import { timeouts } from './suite/timeouts.js';
const subjects = [
    paths,
    order,
    credentials,
    expectations,
    mediaTypes,
    sizes,
    encodings,
    bodies,
    plants,
    conflicts,
    earlyRefusals,
    malformedHttp,
    pipelines,
    limits,
    timeouts,
    storage,
    requestIds,
    logs,
    stopping,
    properties,
];
/** Everything that a client can see of the HTTP interface, on one way of starting the service. */
export function httpSuite(name, start) {
    describe(name, () => {
        for (const subject of subjects)
            subject(start);
    });
}
//# sourceMappingURL=http-suite.js.map