import { inspect } from "node:util";
import { type Logger, type LoggerOptions, pino } from "pino";
import { OutageNotes } from "./db/outage-notes.ts";

export type LogFormat = "auto" | "text" | "json";

/**
 * Writes each event as a line of JSON to the standard output, or as text for a person: if the format says so, or if it is `auto` and the
 * output is a terminal. It writes until the output is lost: a closed terminal ends the output and nothing else.
 */
export function openLog(level: string, format: LogFormat = "json"): Logger {
  const out = pino.destination(process.stdout.fd);
  const isText = format === "text" || (format === "auto" && process.stdout.isTTY === true);
  const destination = { write: (line: string) => void out.write(maskTokens(isText ? formatLine(line) : line)) };
  const outages = new OutageNotes((kind, details, message) => log[kind](details, message));
  const hooks: LoggerOptions["hooks"] = {
    logMethod(given, write, severity) {
      if (severity > pino.levels.values.warn! || !outages.takes(given[0])) write.apply(this, given);
    },
  };
  const log = pino({ level, serializers: { err: describeError }, hooks }, destination);
  out.on("error", (error: NodeJS.ErrnoException) => {
    throwUnlessLost(error);
    log.level = "silent";
    out.destroy(); // otherwise it would try for ever to write the rest before the process ends
  });
  process.stdout.on("error", throwUnlessLost);
  process.stderr.on("error", throwUnlessLost);
  return log;
}

/** Some errors carry the connection on which they happened, with its secrets. */
function describeError(error: unknown): object {
  const { name, message, stack, code, cause } = Object(error) as Partial<Error> & { code?: unknown };
  if (typeof message !== "string") return { message: inspect(error, { depth: 1 }) };
  const known = typeof code === "string" || typeof code === "number" ? { code } : {};
  return { type: name, message, ...known, stack, ...(cause === undefined ? {} : { cause: describeError(cause) }) };
}

/** Masks tokens but for their kind and their last four characters, and user and password in a URL as a whole. */
export function maskTokens(text: string): string {
  return text.replace(/\b(dl_[a-z]+_)[A-Za-z0-9]+([A-Za-z0-9]{4})\b/g, "$1…$2").replace(/(:\/\/)[^\s/@"]+@/g, "$1…@");
}

/** `14:03:12 WARN  an idle database connection was lost reason=…`, and the stack of an error below it. */
export function formatLine(line: string): string {
  const { level, time, msg, err, pid: _pid, hostname: _host, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const label = (pino.levels.labels[Number(level)] ?? "info").toUpperCase().padEnd(5);
  const facts = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const { stack } = (err ?? {}) as { stack?: string };
  const words = [new Date(Number(time)).toISOString().slice(11, 19), label, msg, ...facts].filter(Boolean);
  return `${printable(words.join(" "))}\n${stack ? `${stack}\n` : ""}`;
}

/** Names from devices may hold what a terminal would obey. */
function printable(text: string): string {
  return text.replace(/\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, (character) => JSON.stringify(character).slice(1, -1));
}

function throwUnlessLost(error: NodeJS.ErrnoException): void {
  if (error.code !== "EIO" && error.code !== "EPIPE") throw error;
}
