import { isDatabaseAway, sqlState } from "./sql-state.ts";

/** While nothing says for so long that the database is away, it is there again. */
const QUIET_MS = 15_000;

type Write = (level: "warn" | "info", details: object, message: string) => void;

/**
 * Replaces the dozens of lines a second by which every part of a process says that the database is away with one line at the beginning of
 * an outage, and one after its end.
 */
export class OutageNotes {
  readonly #write: Write;
  readonly #quietMs: number;
  #begunMs: number | undefined;
  #lastMs = 0;
  #leftOut = 0;
  #end: NodeJS.Timeout | undefined;

  constructor(write: Write, quietMs = QUIET_MS) {
    this.#write = write;
    this.#quietMs = quietMs;
  }

  /** Returns true if a line with these details says only that the database is away: then it is not to be written. */
  takes(details: unknown): boolean {
    const error = awayErrorOf(details);
    if (error === undefined) return false;
    this.#lastMs = performance.now();
    clearTimeout(this.#end);
    this.#end = setTimeout(() => this.#over(), this.#quietMs).unref();
    if (this.#begunMs === undefined) {
      this.#begunMs = this.#lastMs;
      this.#write("warn", { because: error.message }, "the database is away; everything that needs it is tried again");
    } else this.#leftOut += 1;
    return true;
  }

  #over(): void {
    const seconds = Math.round((this.#lastMs - this.#begunMs!) / 1000);
    this.#write("info", { seconds, linesLeftOut: this.#leftOut }, "the database is there again");
    this.#begunMs = undefined;
    this.#leftOut = 0;
  }
}

/** The states of a server that is not there, or that is starting or stopping; a deadlock or a full disk is another matter. */
const NOT_THERE = /^(08|57P)/;
const LOST = /terminating connection|Connection terminated|server closed the connection/i;

/** An error stands at `err`; a lost idle connection says only its reason. */
function awayErrorOf(details: unknown): { readonly message: string } | undefined {
  const { err, reason } = (typeof details === "object" && details !== null ? details : {}) as Record<string, unknown>;
  if (typeof reason === "string") return LOST.test(reason) ? new Error(reason) : undefined;
  if (!hasMessage(err)) return undefined;
  const state = sqlState(err);
  return (state === undefined ? isDatabaseAway(err) : NOT_THERE.test(state)) ? err : undefined;
}

/** The queue of jobs reports errors as plain objects. */
function hasMessage(err: unknown): err is { readonly message: string } {
  return typeof err === "object" && err !== null && typeof (err as { message?: unknown }).message === "string";
}
