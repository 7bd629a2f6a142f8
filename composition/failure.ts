/** A failure that is told in one line, without a stack. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}
