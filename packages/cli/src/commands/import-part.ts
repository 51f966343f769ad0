import { api, type CallInput, formatTimestamp, type ImportEstimate, type RecordingCut } from "@downlink/protocol";
import { countOf, formatBytes } from "@downlink/terminal/amounts";
import { printable } from "@downlink/terminal/printable";
import { RefusedError, UsageError } from "../failures/failures.ts";
import { pause } from "../failures/pause.ts";
import { readTime } from "../flags/time-flag.ts";
import type { Service } from "../login/open-service.ts";

export interface PartFlags {
  readonly topic?: readonly string[];
  readonly start?: string;
  readonly end?: string;
  readonly orWhole?: true;
}

type Part = Pick<CallInput<typeof api.recordings.requestImport>, "topics" | "start" | "end" | "orWhole">;

/** The service answers sooner when something happens. */
const WAIT_SECONDS = 25;
const CALM_MS = 1000;

/** Reads which part is wanted; undefined: all of it. Throws {@link UsageError}. */
export function readPart(flags: PartFlags): Part | undefined {
  const [start, end] = [readTime("--start", flags.start), readTime("--end", flags.end)];
  if (start !== undefined && end !== undefined && start > end) throw new UsageError("--end lies before --start.");
  if (flags.topic === undefined && start === undefined && end === undefined) {
    if (flags.orWhole) throw new UsageError("--or-whole is for a part: give --topic, --start or --end.");
    return undefined;
  }
  return {
    ...(flags.topic && { topics: [...flags.topic] }),
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
    ...(flags.orWhole && { orWhole: true }),
  };
}

interface Ref {
  readonly keyOrId: string;
  readonly projectId?: string | undefined;
}

/** Prints how much a device would send, and how long that would take. */
export async function printEstimate({ client }: Service, ref: Ref, part: Part = {}): Promise<void> {
  const { orWhole: _, ...fields } = part;
  const estimate = await client.call(api.recordingCuts.estimate, { ...ref, ...fields });
  process.stdout.write(`${printable(ref.keyOrId)}  ${describeEstimate(estimate)}\n`);
}

function describeEstimate({ bytes, messageCount, isRough, seconds }: ImportEstimate): string {
  if (messageCount === 0) return "nothing to send: all of it is here, or on its way";
  const time = seconds === undefined ? "" : `, ${countOf(Math.ceil(seconds), "second")} at the device's last rate`;
  const doubt = isRough ? " (a rough estimate: the sizes of its topics are not known)" : "";
  return `about ${formatBytes(bytes)}, ${countOf(messageCount, "message")}${time}${doubt}`;
}

/** The parts of a recording that were asked for. */
export interface AskedParts {
  readonly id: string;
  readonly cuts: readonly RecordingCut[];
}

/**
 * Prints a line for each part, and for each change of it while it waits. Throws {@link RefusedError} where one failed, or is not wanted any more
 * because another call cancelled it.
 */
export async function followParts(service: Service, asked: readonly AskedParts[], watch: boolean): Promise<void> {
  const shown = new Map<string, string>();
  for (const { cuts } of asked) print(cuts, shown);
  let latest = asked;
  for (let since = ""; watch && latest.some(({ cuts }) => cuts.some(isUnderWay)); ) {
    const input = since === "" ? {} : { since, waitSeconds: WAIT_SECONDS };
    since = (await service.client.call(api.changes.list, input)).next;
    latest = await Promise.all(asked.map((one) => look(service, one)));
    for (const { cuts } of latest) print(cuts, shown);
    await pause(CALM_MS, service.signal);
  }
  const all = asked.flatMap(({ cuts }) => cuts).length;
  const left = latest.flatMap(({ cuts }) => cuts);
  const failed = all - left.filter(({ importStatus }) => importStatus !== "failed").length;
  if (failed > 0) throw new RefusedError(`${failed} of ${countOf(all, "part")} could not be imported.`);
}

async function look({ client }: Service, { id, cuts }: AskedParts): Promise<AskedParts> {
  const ids = new Set(cuts.map((cut) => cut.id));
  const whole = await client.call(api.recordings.get, { keyOrId: id });
  return { id, cuts: whole.cuts?.filter((cut) => ids.has(cut.id)) ?? [] };
}

function isUnderWay({ importStatus }: RecordingCut): boolean {
  return importStatus === "pending" || importStatus === "importing";
}

function print(cuts: readonly RecordingCut[], shown: Map<string, string>): void {
  for (const cut of cuts) {
    const line = lineOf(cut);
    if (shown.get(cut.id) !== line) process.stdout.write(`${line}\n`);
    shown.set(cut.id, line);
  }
}

function lineOf({ id, recordingId, importStatus, topics, start, end, size, failure, waitsFor }: RecordingCut): string {
  const what = topics.length > 3 ? countOf(topics.length, "topic") : topics.join(" ");
  const why = failure?.text ?? waitsFor;
  const bytes = size === undefined ? "" : `  ${formatBytes(size)}`;
  const text = `${recordingId ?? id}  ${importStatus}  ${what}  ${formatTimestamp(start)} to ${formatTimestamp(end)}${bytes}`;
  return printable(why === undefined ? text : `${text}: ${why}`);
}
