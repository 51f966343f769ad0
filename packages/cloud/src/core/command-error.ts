/** The operator asked for something that cannot be done; the message says why, and what to do about it. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}
