/** Columns that a text takes on a terminal: wide characters take two, those that join the one before them none. */
export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** As many characters from the beginning as fit. */
export function takeWidth(characters: Iterable<string>, width: number): string[] {
  const taken: string[] = [];
  let left = width;
  for (const character of characters) {
    left -= widthOf(character);
    if (left < 0) break;
    taken.push(character);
  }
  return taken;
}

export function padToWidth(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}

const joining = /^[\p{Mn}\p{Me}\u200b-\u200d]$/u;
const pictures = /^\p{Emoji_Presentation}$/u;

/** East Asian wide and fullwidth, by their blocks. */
const wideBlocks = [
  ...[
    [0x1100, 0x115f],
    [0x2e80, 0x303e],
    [0x3041, 0x4dbf],
    [0x4e00, 0xa4cf],
    [0xa960, 0xa97c],
    [0xac00, 0xd7a3],
  ],
  ...[
    [0xf900, 0xfaff],
    [0xfe30, 0xfe6f],
    [0xff00, 0xff60],
    [0xffe0, 0xffe6],
    [0x1b000, 0x1b2ff],
    [0x20000, 0x3fffd],
  ],
] as [number, number][];

function widthOf(character: string): number {
  const code = character.codePointAt(0)!;
  if (code < 0x300) return 1;
  if (joining.test(character)) return 0;
  return pictures.test(character) || wideBlocks.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}
