import { toCommandError } from './command-error.js';

/** Writes to standard output. Ignores the error if the reader has closed it, as `head` does; throws others. */
export async function print(text: string): Promise<void> {
  // The callback gets the error.
  process.stdout.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error && !('code' in error && error.code === 'EPIPE'))
        reject(toCommandError('write to standard output', error));
      else resolve();
    });
  });
}
