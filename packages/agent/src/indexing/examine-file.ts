import {
  type Inspection,
  inspectRecording,
  isFinished,
  type RandomAccessSource,
  SourceChangedError,
} from "@downlink/recordings";
import type { FileEvent } from "../inventory/file-state.ts";
import type { Findings, InventoryStep, TrackedFile } from "../inventory/tracked-file.ts";
import { emptySha256, findingsOfFault, findingsOfSummary, schemasOf } from "./build-item.ts";
import { hashHeadAndTail } from "./head-tail.ts";

type EventStep = Extract<InventoryStep, { do: "event" }>;
export type Verdict = Pick<EventStep, "event" | "findings" | "schemas">;

export interface ExamineOptions {
  readonly signal: AbortSignal;
  /** The file did not change for so long that no end can be expected. */
  readonly isOverdue: boolean;
}

/**
 * Says what a file is that stopped changing: reads the summary only, at most 1 MiB of an indexed MCAP of any size. Throws
 * what reading throws: {@link SourceChangedError}, errors of the file system, the signal's reason.
 */
export async function examineFile(
  file: TrackedFile,
  source: RandomAccessSource,
  options: ExamineOptions,
): Promise<Verdict> {
  const fileName = file.path;
  if (!options.isOverdue && !(await hasEnd(source, fileName))) return { event: "unfinished" };
  const headTailSha256 = await hashHeadAndTail(source);
  const inspection = await inspectSafely(source, fileName, options);
  return toVerdict(file, inspection, headTailSha256);
}

/** When the check itself fails on the content, the inspection may say what is wrong with it. */
async function hasEnd(source: RandomAccessSource, fileName: string): Promise<boolean> {
  try {
    return await isFinished(source, fileName);
  } catch (error) {
    if (isReadFailure(error)) throw error;
    return true;
  }
}

/** Content must never end the agent, not even by a fault of the reader: the file is then damaged, and the next one follows. */
async function inspectSafely(source: RandomAccessSource, fileName: string, { signal }: ExamineOptions) {
  try {
    return await inspectRecording(source, { fileName, signal, salvage: true });
  } catch (error) {
    signal.throwIfAborted();
    if (isReadFailure(error)) throw error;
    return { state: "damaged", reason: { code: "InspectionFailed", text: String(error) } } as const;
  }
}

type Inspected = Inspection | Awaited<ReturnType<typeof inspectSafely>>;

function toVerdict(file: TrackedFile, inspection: Inspected, headTailSha256: string): Verdict {
  switch (inspection.state) {
    case "finished": {
      const found = findingsOfSummary(file, inspection.summary, headTailSha256);
      if ("code" in found) return { event: "foundDamaged", findings: { headTailSha256, reason: found } };
      return { event: "finished", findings: found, schemas: schemasOf(inspection.summary) };
    }
    case "empty":
      return { event: "foundEmpty", findings: { headTailSha256, reason: noMessages } };
    case "incomplete":
      return { event: "stayedUnfinished", findings: findingsOfFault(inspection, headTailSha256) };
    default:
      return { event: "foundDamaged", findings: findingsOfFault(inspection, headTailSha256) };
  }
}

const noMessages = { code: "NoMessages", text: "The recording is valid and holds no message." };

function isReadFailure(error: unknown): boolean {
  return error instanceof SourceChangedError || isFileSystemError(error);
}

export function isFileSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).errno === "number";
}

/** The verdict on a file that the system does not let us read. */
export function unreadableVerdict(error: NodeJS.ErrnoException): Verdict & { event: FileEvent; findings: Findings } {
  const text = `It cannot be read: ${error.message}.`;
  return {
    event: "readFailed",
    findings: { headTailSha256: emptySha256, reason: { code: error.code ?? "EIO", text } },
  };
}
