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

/** Prints a line for each part that is on its way, and for each change of it while it waits. Throws {@link RefusedError} where one failed. */
export async function followParts(
  service: Service,
  { id, cuts, watch }: { id: string; cuts: readonly RecordingCut[]; watch: boolean },
): Promise<void> {
  const shown = new Map<string, string>();
  print(cuts, shown);
  const ids = new Set(cuts.map((cut) => cut.id));
  let latest = cuts;
  let since = watch ? (await service.client.call(api.changes.list, {})).next : "";
  while (watch && latest.some(isUnderWay)) {
    const whole = await service.client.call(api.recordings.get, { keyOrId: id });
    latest = whole.cuts?.filter((cut) => ids.has(cut.id)) ?? [];
    print(latest, shown);
    if (!latest.some(isUnderWay)) break;
    const answer = await service.client.call(api.changes.list, { since, waitSeconds: WAIT_SECONDS });
    since = answer.next;
    await pause(CALM_MS, service.signal);
  }
  const failed = latest.filter(({ importStatus }) => importStatus === "failed").length;
  if (failed > 0) throw new RefusedError(`${failed} of ${latest.length} parts could not be imported.`);
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
