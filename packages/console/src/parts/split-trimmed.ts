/** Returns the parts of a text between separators, without the space around them; empty parts are left out. */
export function splitTrimmed(text: string, separator: string): string[] {
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
