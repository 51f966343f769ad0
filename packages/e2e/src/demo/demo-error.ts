/** A reason to end the demo that is no fault of its code; its message is all that is printed. */
export class DemoError extends Error {
  override readonly name = "DemoError";
}
