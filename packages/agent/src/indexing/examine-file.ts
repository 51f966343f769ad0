import {
  describeEmpty,
  findEnd,
  type Inspection,
  inspectRecording,
  inspectSummary,
  leanLimits,
  type RandomAccessSource,
  type RecordingSummary,
  SourceChangedError,
  sampleTopics,
} from "@downlink/recordings";
import type { FileEvent } from "../inventory/file-state.ts";
import type { Findings, InventoryStep, TrackedFile } from "../inventory/tracked-file.ts";
import { isFileSystemError } from "../system/system-error.ts";
import { emptySha256, findingsOfFault, findingsOfSummary, type Looked, schemasOf } from "./build-item.ts";
import { hashHeadAndTail } from "./head-tail.ts";
import { SET_ASIDE_CODE } from "./reason-codes.ts";

type EventStep = Extract<InventoryStep, { do: "event" }>;
export type Verdict = Pick<EventStep, "event" | "findings" | "schemas">;

export interface ExamineOptions {
  readonly signal: AbortSignal;
  /** The file did not change for so long that no end can be expected. */
  readonly isOverdue: boolean;
}

/**
 * Examines a file that stopped changing. It reads the summary, at most 1 MiB of an indexed MCAP; if needed more, in
 * up to 40 MB of memory; a damaged file as a whole, in up to 100 MB. So callers examine one file at a time. Throws
 * {@link SourceChangedError}, errors of the file system, the signal's reason.
 */
export async function examineFile(
  file: TrackedFile,
  source: RandomAccessSource,
  options: ExamineOptions,
): Promise<Verdict> {
  const verdict = await examineSummary(file, source, options);
  if (verdict) return verdict;
  const inspection = await inspectSafely(source, file.path, options);
  return toVerdict(file, inspection, { headTailSha256: await hashHeadAndTail(source), messageBytes: new Map() });
}

/** Does the same from the file's summary alone, in a few megabytes of memory; undefined where the summary is not enough. */
export async function examineSummary(
  file: TrackedFile,
  source: RandomAccessSource,
  { signal, isOverdue }: ExamineOptions,
): Promise<Verdict | undefined> {
  const fileName = file.path;
  if (!isOverdue && (await mayStillEnd(source, fileName))) return { event: "unfinished" };
  const summed = await passFaults(() => inspectSummary(source, { fileName, signal }), signal);
  if (summed instanceof Error || !summed) return undefined;
  const sampled = await passFaults(() => sampleTopics(source, signal), signal);
  const messageBytes = sampled instanceof Error ? new Map() : sampled;
  return toVerdict(file, summed, { headTailSha256: await hashHeadAndTail(source), messageBytes });
}

/**
 * Returns whether the end of the file is missing and may still be written. It is not where the file begins as no recording does. When the
 * check itself fails on the content, the inspection may say what is wrong.
 */
async function mayStillEnd(source: RandomAccessSource, fileName: string): Promise<boolean> {
  try {
    return (await findEnd(source, fileName, leanLimits)) === "missing";
  } catch (error) {
    if (isReadFailure(error)) throw error;
    return false;
  }
}

/** Content must never end the agent, not even by a fault of the reader: such a file is damaged, and the next one follows. */
async function inspectSafely(source: RandomAccessSource, fileName: string, { signal }: ExamineOptions) {
  const look = () => inspectRecording(source, { fileName, signal, salvage: true, limits: leanLimits });
  const found = await passFaults(look, signal);
  if (!(found instanceof Error)) return found;
  return { state: "damaged", reason: { code: "InspectionFailed", text: String(found) } } as const;
}

/** Returns what went wrong with the content; throws what reading throws. */
async function passFaults<T>(look: () => Promise<T>, signal: AbortSignal): Promise<T | Error> {
  try {
    return await look();
  } catch (error) {
    signal.throwIfAborted();
    if (isReadFailure(error)) throw error;
    return error instanceof Error ? error : new Error(String(error));
  }
}

type Inspected = Inspection | Awaited<ReturnType<typeof inspectSafely>>;

function toVerdict(file: TrackedFile, inspection: Inspected, looked: Looked): Verdict {
  const { headTailSha256 } = looked;
  switch (inspection.state) {
    case "finished": {
      const found = findingsOfSummary(file, inspection.summary, looked);
      if ("code" in found) return { event: "foundDamaged", findings: { headTailSha256, reason: found } };
      return { event: "finished", findings: found, schemas: schemasOf(inspection.summary) };
    }
    case "empty":
      return { event: "foundEmpty", findings: { headTailSha256, reason: noMessages(inspection.summary) } };
    case "incomplete":
      return { event: "stayedUnfinished", findings: findingsOfFault(inspection, headTailSha256) };
    case "damaged":
    case "unsupported":
      return { event: "foundDamaged", findings: findingsOfFault(inspection, headTailSha256) };
    default:
      return inspection satisfies never;
  }
}

function noMessages(summary: RecordingSummary) {
  const text = describeEmpty(summary);
  return { code: "NoMessages", text: `${text.charAt(0).toUpperCase()}${text.slice(1)}.` };
}

function isReadFailure(error: unknown): boolean {
  return error instanceof SourceChangedError || isFileSystemError(error);
}

/** Returns the verdict on a file during whose examination the agent died more than once. */
export function setAsideVerdict(): Verdict & { event: FileEvent; findings: Findings } {
  const text =
    "The agent ended more than once while it examined this file: it may take more memory than there is. It is tried again once a day, and when it changes.";
  return { event: "readFailed", findings: { headTailSha256: emptySha256, reason: { code: SET_ASIDE_CODE, text } } };
}

/** Returns the verdict on a file that the system does not let us read. */
export function unreadableVerdict(error: NodeJS.ErrnoException): Verdict & { event: FileEvent; findings: Findings } {
  const text = `It cannot be read: ${error.message}.`;
  return {
    event: "readFailed",
    findings: { headTailSha256: emptySha256, reason: { code: error.code ?? "EIO", text } },
  };
}
