import { createWriteStream, openSync } from 'node:fs';
import { services } from 'plant-store';

export default (container) => {
  container
    .rebind(services.LogDestination)
    .toDynamicValue(() => {
      const file = createWriteStream('', { fd: openSync('service.log', 'a') });
      return file.on('error', ({ message }) => console.error(message));
    })
    .onDeactivation((file) => new Promise((resolve) => file.end(resolve)));
};
