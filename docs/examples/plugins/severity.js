// A plugin for Google Cloud, which reads the level of a line from `severity`.

import { services } from 'plant-store';

const rename = (line) => line.replace('{"level":', '{"severity":');

export default (container) => {
  container.onActivation(services.LogDestination, (_, destination) => {
    const write = destination.write.bind(destination);
    return Object.assign(destination, { write: (line) => write(rename(line)) });
  });
};
