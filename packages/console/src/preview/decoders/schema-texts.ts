import { DecodeError } from "./value.ts";

/** The longest that a definition may be. The largest of those that ROS installs are below 50 kB, with all that they name. */
const MAX_DEFINITION_BYTES = 512 * 1024;

export function definitionText(bytes: Uint8Array): string {
  if (bytes.byteLength > MAX_DEFINITION_BYTES) {
    throw new DecodeError(
      `The schema has ${bytes.byteLength} bytes, more than the ${MAX_DEFINITION_BYTES} that are read.`,
    );
  }
  return new TextDecoder().decode(bytes);
}
