/** The characters of Unicode, without the halves of pairs. */
const CHARACTERS = 0x11_00_00 - 0x800;

export const LAST_CHARACTER = CHARACTERS - 1;

/**
 * Returns the character with an index up to `LAST_CHARACTER`: `fc.string({ unit: fc.nat(LAST_CHARACTER).map(characterAt) })` is any text.
 * For the unit "binary" fast-check makes a map of all characters, which takes a second in each process.
 */
export function characterAt(index: number): string {
  return String.fromCodePoint(index < 0xd800 ? index : index + 0x800);
}
