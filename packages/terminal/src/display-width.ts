import stringWidth from "string-width";

/** Returns the number of columns that a printable text takes on a terminal. Most texts are ASCII, where it is their length. */
export function displayWidth(text: string): number {
  return /^[\x20-\x7e]*$/.test(text) ? text.length : stringWidth(text);
}

const segmenter = new Intl.Segmenter();

/** Splits a text into the characters that a person sees: a cut between them leaves no half of one. */
export function toCharacters(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Takes as many characters from the beginning as fit into a width. */
export function takeWidth(characters: Iterable<string>, width: number): string[] {
  const taken: string[] = [];
  let left = width;
  for (const character of characters) {
    left -= displayWidth(character);
    if (left < 0) break;
    taken.push(character);
  }
  return taken;
}

export function padToWidth(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}
