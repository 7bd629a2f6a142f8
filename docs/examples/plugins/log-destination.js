import { createWriteStream, openSync } from 'node:fs';
import { services } from 'plant-store';

/** Writes the log to a file. */
function openFile() {
  const file = createWriteStream('', { fd: openSync('service.log', 'a') });
  file.on('error', ({ message }) => console.error(message));
  return { file, write: (line) => file.write(line), flush: (done) => file.write('', done) };
}

export default (container) => {
  container
    .rebind(services.LogDestination)
    .toDynamicValue(openFile)
    .onDeactivation(({ file }) => new Promise((resolve) => file.end(resolve)));
};
