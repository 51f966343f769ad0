/** Says in a few words why a message has no value for a part. */
export class NoValueError extends Error {
  override readonly name = "NoValueError";
}
