/** Control and format characters, which are drawn as nothing or turn the order of others, and the two separators of lines. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Returns a text in which every character that cannot be seen is an escape, such as `⟨U+202E⟩`: the name of a file that turns the order of
 * its letters, or two names that differ by a character without a width, are then recognized. Line breaks and tabs are such characters too.
 */
export function showHidden(text: string): string {
  return text.replace(HIDDEN, (found) => `⟨U+${found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`);
}
