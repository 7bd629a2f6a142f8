import { readConfig } from '../../composition/config.js';
import { createContainer, services } from '../../composition/container.js';
/** The token that lets a test in. */
export const TOKEN = 'test-token';
/**
 * Starts the service with `environment` on top of a memory repository, a token and silence.
 *
 * @param rebind puts other parts into the container before it is used
 */
export async function startService(environment = {}, rebind = () => { }) {
    const config = readConfig({
        PORT: '0',
        DATABASE_URL: 'memory:',
        ACCESS_TOKENS: TOKEN,
        LOG_LEVEL: 'silent',
        ...environment,
    });
    const container = createContainer(config);
    rebind(container);
    const server = await container.getAsync(services.HttpServer);
    const plants = await container.getAsync(services.PlantRepository);
    const { port } = await server.listen(config.port, config.host);
    return {
        port,
        plants,
        config,
        stop: async () => {
            const finished = await server.stop(config.shutdownTimeoutMs);
            await plants.close();
            return finished;
        },
    };
}
//# sourceMappingURL=service.js.map