import { styleText } from "node:util";
import { formatDuration } from "@downlink/terminal/amounts";
import { fit, wrap } from "@downlink/terminal/fit";

export interface RenderOptions {
  readonly nowMs: number;
  readonly columns: number;
  readonly isColored: boolean;
  /** Rewrites a text that calls the program `agent`; where it is absent, texts are printed as they are. */
  readonly asPrinted?: (text: string) => string;
}

/** How many lines a text may take on a screen. */
export interface Layout extends RenderOptions {
  readonly lines: number;
  /** How many items of a list are shown, where the screen has no room for the usual number. */
  readonly most?: number;
}

const LABEL_WIDTH = 12;

export function paint(format: Parameters<typeof styleText>[0], text: string, { isColored }: RenderOptions): string {
  return isColored ? styleText(format, text, { validateStream: false }) : text;
}

export function asPrinted(text: string, options: RenderOptions): string {
  return options.asPrinted?.(text) ?? text;
}

/** Breaks lines that are wider than the terminal; each keeps its indent. Without a terminal lines may have any length. */
export function fitLines(text: string, columns: number): string {
  if (columns === Number.POSITIVE_INFINITY) return text;
  const fitLine = (line: string) => {
    const indent = /^ */.exec(line)![0];
    const room = { width: columns - indent.length, lines: Number.POSITIVE_INFINITY };
    return wrap(line.slice(indent.length), room).map((part) => indent + part);
  };
  return text.split("\n").flatMap(fitLine).join("\n");
}

/** Returns a message with commands as it is printed. */
export function messageOf(text: string, options: RenderOptions): string {
  return `${fitLines(asPrinted(text, options), options.columns)}\n`;
}

export function labelled(label: string, text: string, options: Layout): string[] {
  const width = options.columns - LABEL_WIDTH;
  const lines = options.lines === 1 ? [fit(text, width)] : wrap(text, { width, lines: options.lines });
  return lines.map((line, index) => `${paint("dim", (index === 0 ? label : "").padEnd(LABEL_WIDTH), options)}${line}`);
}

export function age(time: string | null, nowMs: number): string {
  return time === null ? "?" : formatDuration(Math.max(0, (nowMs - Date.parse(time)) / 1000));
}

const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const DAY_MS = 86_400_000;

/** A time to come. It is local, as in the timetable of rates, and without the day where that is within 24 hours. */
export function clockTime(time: string, nowMs: number): string {
  const at = new Date(time);
  const hours = `${at.getHours()}`.padStart(2, "0");
  const clock = `${hours}:${`${at.getMinutes()}`.padStart(2, "0")}`;
  return at.getTime() - nowMs < DAY_MS ? clock : `${weekdays[at.getDay()]} ${clock}`;
}
