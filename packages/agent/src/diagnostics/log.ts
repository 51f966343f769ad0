import { harmlessJson, printable, printableLines } from "@downlink/terminal/printable";
import { type DestinationStream, type Level, type Logger, pino } from "pino";

export type Log = Logger;

export interface LogOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
}

/** Writes JSON lines, or text for a person. A log that cannot be written (full disk, closed pipe) never stops the agent. */
export function createLog(options: { format: "auto" | "text" | "json"; level: Level; out: LogOutput }): Log {
  const { out } = options;
  out.on("error", () => {}); // An `error` without a listener would end the process.
  const isText = options.format === "text" || (options.format === "auto" && out.isTTY === true);
  const destination: DestinationStream = {
    write: (line) => out.write(maskTokens(isText ? formatLine(line) : harmlessJson(line))),
  };
  return pino({ level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

/** Masks tokens but for their kind and their last four characters, and user and password in a URL as a whole. */
export function maskTokens(text: string): string {
  return text.replace(/\b(dl_[a-z]+_)[A-Za-z0-9]+([A-Za-z0-9]{4})\b/g, "$1…$2").replace(/(:\/\/)[^\s/@"]+@/g, "$1…@");
}

function formatLine(line: string): string {
  const { level, time, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const label = pino.levels.labels[Number(level)] ?? "info";
  const facts = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const trouble = (err as { stack?: string } | undefined)?.stack;
  const words = [String(time).slice(11, 19), label.toUpperCase().padEnd(5), msg, ...facts];
  return `${printable(words.join(" "))}\n${trouble ? `${printableLines(trouble)}\n` : ""}`;
}
