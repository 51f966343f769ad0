import { displayWidth, takeWidth, toCharacters } from "./display-width.ts";
import { printable } from "./printable.ts";

/** Cuts the text in its middle, where paths differ least. */
export function fit(text: string, width: number): string {
  const shown = printable(text);
  if (displayWidth(shown) <= width) return shown;
  const characters = toCharacters(shown);
  const head = takeWidth(characters, Math.ceil((width - 1) / 2)).join("");
  const tail = takeWidth(characters.reverse(), width - 1 - displayWidth(head)).reverse();
  return `${head}…${tail.join("")}`;
}

/** Breaks the text between words into lines of a width. Where there are too many lines, the last one is cut. */
export function wrap(text: string, { width, lines }: { width: number; lines: number }): string[] {
  const wrapped: string[] = [""];
  for (const word of printable(text).split(/\s+/)) {
    const last = wrapped.at(-1)!;
    if (last === "") wrapped[wrapped.length - 1] = word;
    else if (displayWidth(last) + 1 + displayWidth(word) <= width) wrapped[wrapped.length - 1] = `${last} ${word}`;
    else wrapped.push(word);
  }
  const shown = wrapped.slice(0, lines);
  const isCut = wrapped.length > lines;
  return shown.map((line, index) => cut(isCut && index === lines - 1 ? `${line} …` : line, width));
}

/** Cuts the text at its end. */
function cut(text: string, width: number): string {
  return displayWidth(text) <= width ? text : `${takeWidth(toCharacters(text), width - 1).join("")}…`;
}
