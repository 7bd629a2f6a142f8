// Imported by a program whose memory is measured: after SIGUSR2, and a garbage collection, writes the size of its heap to
// the file `heap` in its working directory.
import { renameSync, writeFileSync } from 'node:fs';

process.on('SIGUSR2', () => {
  gc();
  writeFileSync('heap.new', `${process.memoryUsage().heapUsed}`);
  renameSync('heap.new', 'heap');
});
