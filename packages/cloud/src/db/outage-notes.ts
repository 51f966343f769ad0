import { isDatabaseAway, isDatabaseFull, sqlState } from "./sql-state.ts";

/** While nothing says for so long that there is an outage, it is over. */
const QUIET_MS = 15_000;

type Write = (level: "warn" | "info", details: object, message: string) => void;

const messages = {
  away: {
    begun: "the database is away; everything that needs it is tried again",
    over: "the database is there again",
  },
  full: {
    begun: "there is no room: what is sent is refused with 507 StorageFull; free or add storage",
    over: "there is room again",
  },
} as const;

type Kind = keyof typeof messages;

/**
 * Replaces the dozens of lines a second by which every part of a process says that the database is away, or that a disk is full, with one
 * line at the beginning of an outage, and one after its end.
 */
export class OutageNotes {
  readonly #outages: Readonly<Record<Kind, Outage>>;

  constructor(write: Write, quietMs = QUIET_MS) {
    this.#outages = { away: new Outage("away", write, quietMs), full: new Outage("full", write, quietMs) };
  }

  /** Returns true if a line with these details says only that there is an outage: then it is not to be written. */
  takes(details: unknown): boolean {
    const found = outageOf(details);
    if (found) this.#outages[found.kind].note(found.because);
    return found !== undefined;
  }
}

class Outage {
  readonly #kind: Kind;
  readonly #write: Write;
  readonly #quietMs: number;
  #begunMs: number | undefined;
  #lastMs = 0;
  #leftOut = 0;
  #end: NodeJS.Timeout | undefined;

  constructor(kind: Kind, write: Write, quietMs: number) {
    this.#kind = kind;
    this.#write = write;
    this.#quietMs = quietMs;
  }

  note(because: string): void {
    this.#lastMs = performance.now();
    clearTimeout(this.#end);
    this.#end = setTimeout(() => this.#over(), this.#quietMs).unref();
    if (this.#begunMs === undefined) {
      this.#begunMs = this.#lastMs;
      this.#write("warn", { because }, messages[this.#kind].begun);
    } else this.#leftOut += 1;
  }

  #over(): void {
    const seconds = Math.round((this.#lastMs - this.#begunMs!) / 1000);
    this.#write("info", { seconds, linesLeftOut: this.#leftOut }, messages[this.#kind].over);
    this.#begunMs = undefined;
    this.#leftOut = 0;
  }
}

/** The states of a server that is not there, or that is starting or stopping; a deadlock is another matter. */
const NOT_THERE = /^(08|57P)/;
const LOST = /terminating connection|Connection terminated|server closed the connection/i;
/** The codes for full storage: that of our own error, and those of the system. */
const FULL_CODES = new Set(["StorageFull", "ENOSPC", "EDQUOT"]);

/** An error stands at `err`; a lost idle connection says only its reason. */
function outageOf(details: unknown): { readonly kind: Kind; readonly because: string } | undefined {
  const { err, reason } = (typeof details === "object" && details !== null ? details : {}) as Record<string, unknown>;
  if (typeof reason === "string") return LOST.test(reason) ? { kind: "away", because: reason } : undefined;
  if (!hasMessage(err)) return undefined;
  const because = hasMessage(err.cause) ? err.cause.message : err.message;
  if (isDatabaseFull(err) || FULL_CODES.has(String((err as { code?: unknown }).code))) return { kind: "full", because };
  const state = sqlState(err);
  const isAway = state === undefined ? isDatabaseAway(err) : NOT_THERE.test(state);
  return isAway ? { kind: "away", because } : undefined;
}

/** The queue of jobs reports errors as plain objects. */
function hasMessage(err: unknown): err is { readonly message: string; readonly cause?: unknown } {
  return typeof err === "object" && err !== null && typeof (err as { message?: unknown }).message === "string";
}
