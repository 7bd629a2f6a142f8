// A plugin that renames `level` to `severity`, which Google Cloud reads.

import { services } from 'plant-store';

const rename = (line) => line.replace('{"level":', '{"severity":');

export default (container) => {
  container.onActivation(services.LogDestination, (_, destination) => {
    const write = destination.write.bind(destination);
    return Object.assign(destination, { write: (line) => write(rename(line)) });
  });
};
