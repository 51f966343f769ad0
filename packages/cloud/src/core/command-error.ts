/** What the operator asked for cannot be done; the sentence says why, and what to do about it. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}
