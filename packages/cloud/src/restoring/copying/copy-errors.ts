/** A copy to another store that cannot go on; the message says what an operator can do about it. */
export class CopyError extends Error {
  override readonly name = "CopyError";
}
