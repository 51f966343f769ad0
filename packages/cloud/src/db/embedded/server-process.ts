import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { type Launcher, launch } from "./launcher.ts";

/**
 * A shell runs between this process and Postgres. It reads a pipe from this process: each line is a signal for Postgres. At the end of the
 * pipe this process has ended in whatever way, kill -9 included; then the shell shuts Postgres down fast, so that no orphan keeps the data
 * directory. $1 is removed after a clean end.
 */
// A signal to the whole process group does not end it. It prints nothing at the end: when no process is left to read it, that would kill it.
const GUARD = `
trap '' INT TERM HUP
leftovers=$1; shift
exec 3<&0
"$@" 3<&- & server=$!
{ while read -r signal <&3; do kill -s "$signal" "$server"; done; kill -s INT "$server"; } 2>/dev/null & guard=$!
wait "$server"; status=$?
exec 2>/dev/null
if [ "$status" != 0 ]; then kill -s KILL "$guard"; exit "$status"; fi
if [ -n "$leftovers" ]; then rm -rf -- "$leftovers"; fi
`;
const FAST_SHUTDOWN_MS = 8000;
const POLL_MS = 10;
/**
 * The errors of connecting while the server starts: there is no socket yet, no process listens yet, or the server is still replaying its
 * log.
 */
const NOT_YET = new Set(["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE", "57P03"]);

export interface ServerCommand {
  readonly launcher: Launcher;
  readonly postgres: string;
  readonly args: readonly string[];
  readonly url: string;
  /** A folder to remove after a clean end, even if this process was killed. */
  readonly leftovers: string | undefined;
  onLogLine(line: string): void;
}

/** One run of the server program; the server answers once `start` returns. */
export class ServerProcess {
  readonly #child: ChildProcessByStdio<Writable, null, Readable>;
  readonly #exited: Promise<unknown>;
  #lastLines: string[] = [];

  private constructor(child: ChildProcessByStdio<Writable, null, Readable>, onLogLine: (line: string) => void) {
    this.#child = child;
    this.#exited = once(child, "exit");
    child.stdin.on("error", () => {}); // the guard has ended, and its exit reports that
    readLines(child.stderr, (line) => {
      this.#lastLines = [...this.#lastLines.slice(-19), line];
      onLogLine(line);
    });
  }

  static async start(command: ServerCommand): Promise<ServerProcess> {
    const {
      command: program,
      args,
      options,
    } = launch(command.launcher, "/bin/sh", [
      "-c",
      GUARD,
      "sh",
      command.leftovers ?? "",
      command.postgres,
      ...command.args,
    ]);
    const child = spawn(program, args, { ...options, stdio: ["pipe", "ignore", "pipe"], detached: true });
    await once(child, "spawn");
    const server = new ServerProcess(child, command.onLogLine);
    await server.#untilReady(command.url);
    letProgramEnd(child);
    return server;
  }

  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Resolves when the server has ended, for whatever reason. */
  get exited(): Promise<unknown> {
    return this.#exited;
  }

  /** Shuts down fast first, and after 8 seconds immediately, which loses nothing: the next start replays the log. */
  async stop(): Promise<void> {
    if (this.hasExited) return;
    this.#child.ref();
    this.#child.stdin.write("INT\n");
    const escalation = setTimeout(() => this.#child.stdin.write("QUIT\n"), FAST_SHUTDOWN_MS);
    await this.#exited;
    clearTimeout(escalation);
  }

  /** Waits as long as the server lives: it is not known how long replaying the log after a crash takes. */
  async #untilReady(url: string): Promise<void> {
    while (!this.hasExited) {
      if (await answers(url)) return;
      await Promise.race([delay(POLL_MS), this.#exited]);
    }
    throw new EmbeddedPostgresError(`Postgres did not start:\n${this.#lastLines.join("\n")}`);
  }
}

/** Says whether the server is up; throws an error that waiting cannot cure. */
export async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  client.on("error", () => {}); // every failure is thrown by connect
  try {
    await client.connect();
    await client.end();
    return true;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === undefined || NOT_YET.has(code)) return false;
    throw error;
  }
}

/** A program that forgets to stop the server still ends; then the guard stops the server. */
function letProgramEnd(child: ChildProcessByStdio<Writable, null, Readable>): void {
  child.unref();
  for (const stream of [child.stdin, child.stderr]) (stream as unknown as { unref(): void }).unref();
}

function readLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  });
}
