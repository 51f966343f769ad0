import { choiceParam, choicesParam, flagParam, listParam, textParam, timeParam, type Values } from "../url/params.ts";

import { PARTS } from "./shown.ts";

/** The parameters in the address of the coverage. */
export const coverageParams = {
  from: timeParam,
  to: timeParam,
  q: textParam,
  /** The height of a row in pixels. */
  row: choiceParam(["32", "4"], "32"),
  /** The parts of the lanes that are not shown. */
  hide: choicesParam(PARTS),
  table: flagParam,
  /** The selection: its first and last device, and its ends. */
  sel: listParam,
};
export type CoverageValues = Values<typeof coverageParams>;

/** The start of the range where the address names no time. */
const USUAL = "now-30d";

export function rangeOf({ from, to }: Pick<CoverageValues, "from" | "to">): { from: string; to: string } {
  return from === "" && to === "" ? { from: USUAL, to: "" } : { from, to };
}

/** Splits what is typed at its spaces, save those within quotation marks. */
export function splitTerms(text: string): string[] {
  return text.match(/(?:"[^"]*"|\S)+/g) ?? [];
}

/** Splits what is typed into terms on properties and a part of the name: `rover properties.site:munich`. */
export function toDeviceFilter(text: string): { query?: string; nameMatches?: string } {
  const words = splitTerms(text);
  const [terms, names] = [words.filter(isTerm), words.filter((word) => !isTerm(word))];
  return {
    ...(terms.length > 0 && { query: terms.join(" ") }),
    ...(names.length > 0 && { nameMatches: names.join(" ") }),
  };
}

function isTerm(word: string): boolean {
  return /^-?properties\./.test(word);
}
