// A plugin that adds the level of a line as `severity`, which Google Cloud reads.

import { services } from 'plant-store';

const addSeverity = (line) => line.replace(/^\{"level":("\w+")/, '$&,"severity":$1');

export default (container) => {
  container.onActivation(services.LogDestination, (_, destination) => {
    const write = destination.write.bind(destination);
    return Object.assign(destination, { write: (line) => write(addSeverity(line)) });
  });
};
