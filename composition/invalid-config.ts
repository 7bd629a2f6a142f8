/** Invalid settings. The message has one line per problem. */
export class InvalidConfig extends Error {
  override readonly name = 'InvalidConfig';
  readonly code = 'INVALID_CONFIG';
}
