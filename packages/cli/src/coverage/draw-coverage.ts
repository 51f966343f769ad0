import { type CoverageGrid, coverageBits } from "@downlink/protocol";
import { formatDuration } from "@downlink/terminal/amounts";
import { displayWidth, padToWidth } from "@downlink/terminal/display-width";
import { fit } from "@downlink/terminal/fit";
import { axisText, drawAxis } from "./draw-axis.ts";

/** The states of a cell, the most important first, as the console shows them. */
const states = [
  { bit: coverageBits.failed, text: "failed", letter: "f", colour: 31 },
  { bit: coverageBits.onItsWay, text: "on its way", letter: "w", colour: 33 },
  { bit: coverageBits.edgeOnly, text: "on the device only", letter: "d", colour: 36 },
  { bit: coverageBits.imported, text: "imported", letter: undefined, colour: 32 },
] as const;
type State = (typeof states)[number];

/** Data in less than a third of a cell's time, in less than two thirds, and in more. */
const blocks = ["▂", "▅", "█"] as const;

const LEAST_CELLS = 10;
const COVERED_WIDTH = 6;
const nameWidths = { least: 8, most: 24, share: 5 };

export interface Screen {
  readonly columns: number;
  readonly hasColours: boolean;
}

interface Layout {
  readonly nameWidth: number;
  readonly cells: number;
}

/** Returns how many cells a device's line has on a screen. The widths are the same for any names, because the cells are asked for with them. */
export function layOutCoverage(columns: number): Layout {
  const { least, most, share } = nameWidths;
  const nameWidth = Math.min(most, Math.max(least, Math.floor(columns / share)));
  return { nameWidth, cells: Math.max(LEAST_CELLS, columns - nameWidth - COVERED_WIDTH - 2) };
}

/** Draws a line for each device, with the axis of time and a legend below. The grid has a whole number of bins for each cell. */
export function drawCoverage({ start, binNs, bins, devices }: CoverageGrid, screen: Screen): string {
  const { nameWidth, cells } = layOutCoverage(screen.columns);
  const perCell = Math.max(1, Math.floor(bins / cells));
  const lines = devices.map(({ name, cells: given, coveredSeconds }) => {
    const drawn = drawCells(mergeBins(Buffer.from(given, "base64"), perCell), screen.hasColours);
    const covered = coveredSeconds > 0 ? formatDuration(coveredSeconds) : "-";
    return `${padToWidth(fit(name, nameWidth), nameWidth)} ${drawn} ${covered.padStart(COVERED_WIDTH)}`;
  });
  const margin = " ".repeat(nameWidth + 1);
  const axis = { startNs: start, cellNs: BigInt(binNs) * BigInt(perCell), cells };
  const below = [...drawAxis(axis).map((line) => margin + line), axisText(axis), ...drawLegend(screen)];
  return `${[...lines, ...below].join("\n")}\n`;
}

/** A cell has whatever any of its bins has. */
function mergeBins(bins: Uint8Array, perCell: number): number[] {
  const merged = Array.from({ length: Math.ceil(bins.length / perCell) }, () => 0);
  bins.forEach((bin, at) => {
    merged[Math.floor(at / perCell)]! |= bin;
  });
  return merged;
}

/** Cells of one colour follow each other in one stretch, because each change of colour is written out. */
function drawCells(cells: readonly number[], hasColours: boolean): string {
  let [text, colour] = ["", 0];
  for (const cell of cells) {
    const state = states.find(({ bit }) => cell & bit);
    const wanted = hasColours ? (state?.colour ?? 0) : 0;
    if (wanted !== colour) text += `\u001b[${wanted}m`;
    colour = wanted;
    text += state ? drawCell(state, cell, hasColours) : " ";
  }
  return colour === 0 ? text : `${text}\u001b[0m`;
}

function drawCell({ letter }: State, cell: number, hasColours: boolean): string {
  const { third, twoThirds } = coverageBits;
  if (letter !== undefined && !hasColours) return cell & twoThirds ? letter.toUpperCase() : letter;
  if (cell & twoThirds) return blocks[2];
  return blocks[cell & third ? 1 : 0];
}

function drawLegend({ columns, hasColours }: Screen): string[] {
  const named = states.toReversed().map(({ text, letter, colour }) => {
    if (hasColours) return { text: `█ ${text}`, drawn: `\u001b[${colour}m█\u001b[0m ${text}` };
    const sign = letter === undefined ? blocks.join("") : letter + letter.toUpperCase();
    return { text: `${sign} ${text}`, drawn: `${sign} ${text}` };
  });
  const density = hasColours ? `${blocks.join("")} more of the time` : "█ and upper case: most of the time";
  const lines: string[] = [];
  let left = 0;
  for (const { text, drawn } of [...named, { text: density, drawn: density }]) {
    left -= displayWidth(text) + 2;
    if (left >= 0) lines.push(`${lines.pop()}  ${drawn}`);
    else {
      lines.push(drawn);
      left = columns - displayWidth(text);
    }
  }
  return lines;
}
