import { once } from "node:events";
import { type BackoffLimits, isWorthRetrying, retryDelayMs } from "@downlink/client";
import { api, type Changes, MAX_CHANGES_WAIT_SECONDS } from "@downlink/protocol";
import { harmlessJson, printable } from "@downlink/terminal/printable";
import { pause } from "../failures/pause.ts";
import { type Flags, readFilters } from "../flags/read-filters.ts";
import type { Service } from "../login/open-service.ts";

const { list } = api.changes;
type Change = Changes["changes"][number];

interface Ends {
  readonly output: NodeJS.WritableStream;
  readonly notes: NodeJS.WritableStream;
  /** How long to wait between tries while the service cannot be reached. */
  readonly backoff?: BackoffLimits;
}

const patient: BackoffLimits = { firstMs: 1000, capMs: 30_000 };

/**
 * Prints a line of JSON for each change until a signal ends it, or the reader of the output goes away. A call that fails is repeated from the
 * same place, so that no change is lost or printed twice; only a first call that fails ends it. Throws {@link UsageError}, and what the service
 * refuses.
 */
export async function watchChanges(
  service: Service,
  flags: Flags,
  { output, notes, backoff = patient }: Ends,
): Promise<void> {
  const { since: given, ...inProject } = readFilters(list, flags, { project: "projectId", since: "since" });
  const kinds = flags.kind as readonly string[] | undefined;
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  output.once("error", leave);
  const signal = AbortSignal.any([service.signal, leaving.signal]);
  const call = (place: object) => service.client.call(list, { ...inProject, ...place }, { signal });
  let since = given;
  try {
    since ??= (await call({})).next;
    for await (const answer of answersSince(since, { call, signal, notes, backoff })) {
      const changes = answer.changes.filter(({ kind }) => kinds === undefined || kinds.includes(kind));
      const text = linesOf({ ...answer, changes }, since);
      if (text !== "" && !output.write(text)) await once(output, "drain", { signal });
      since = answer.next;
    }
  } catch (error) {
    if (leaving.signal.aborted) return;
    if (since !== undefined && signal.aborted) notes.write(`dl: dl watch --since ${printable(since)} continues.\n`);
    service.signal.throwIfAborted();
    throw error;
  } finally {
    output.off("error", leave);
  }
}

interface Asking {
  readonly call: (place: { since: string; waitSeconds: number }) => Promise<Changes>;
  readonly signal: AbortSignal;
  readonly notes: NodeJS.WritableStream;
  readonly backoff: BackoffLimits;
}

async function* answersSince(first: string, { call, signal, notes, backoff }: Asking): AsyncGenerator<Changes> {
  let [since, failures, isReached] = [first, 0, false];
  for (;;) {
    try {
      const answer = await call({ since, waitSeconds: isReached ? MAX_CHANGES_WAIT_SECONDS : 0 });
      if (failures > 0) notes.write("dl: the service answers again\n");
      [since, failures, isReached] = [answer.next, 0, true];
      yield answer;
    } catch (error) {
      if (!isReached || signal.aborted || !isWorthRetrying(error)) throw error;
      failures += 1;
      if (failures === 1) notes.write(`dl: ${printable((error as Error).message)}; dl goes on trying\n`);
      await pause(retryDelayMs(error, failures, { limits: backoff }), signal);
    }
  }
}

/** Each line has the place from which nothing after it is missed; only the last of an answer's lines has the next place. */
function linesOf({ changes, next, isMissed }: Changes, since: string): string {
  const lines: (Change | { isMissed: true })[] = isMissed ? [{ isMissed }, ...changes] : changes;
  return lines
    .map((line, at) => ({ ...line, next: at === lines.length - 1 ? next : since }))
    .map((line) => `${harmlessJson(JSON.stringify(line))}\n`)
    .join("");
}
