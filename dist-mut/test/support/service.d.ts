import type { Container } from 'inversify';
import { type Config } from '../../composition/config.js';
import type { PlantRepository } from '../../core/index.js';
/** The token that lets a test in. */
export declare const TOKEN = "test-token";
/** A service in this process, wired by the real container, on a port of its own. */
export interface TestService {
    readonly port: number;
    readonly plants: PlantRepository;
    readonly config: Config;
    stop(): Promise<boolean>;
}
/**
 * Starts the service with `environment` on top of a memory repository, a token and silence.
 *
 * @param rebind puts other parts into the container before it is used
 */
export declare function startService(environment?: Readonly<Record<string, string>>, rebind?: (container: Container) => void): Promise<TestService>;
//# sourceMappingURL=service.d.ts.map