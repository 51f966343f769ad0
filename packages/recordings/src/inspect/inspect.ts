import { type InspectLimits, summaryLimits } from "../faults/limits.ts";
import { type Reason, RecordingError, stateOf } from "../faults/reasons.ts";
import { detectByName, detectFormat } from "../formats/detect-format.ts";
import { inspectMcapSummary } from "../mcap/inspect-mcap.ts";
import { createReadContext, type ReadContext } from "../reading/read-context.ts";
import type { RandomAccessSource } from "../sources/source.ts";
import type { Inspection } from "../survey/summary.ts";
import { toSummary } from "../survey/to-summary.ts";
import { findSalvage } from "./find-salvage.ts";
import { indexRecording } from "./index-recording.ts";

export interface InspectOptions {
  /** Only the extension matters. */
  readonly fileName: string;
  readonly signal?: AbortSignal;
  /** Whether to find out what is readable of an incomplete or damaged file, for which all of its record headers are read. */
  readonly salvage?: boolean;
  readonly limits?: Partial<InspectLimits>;
  /** Whether every byte is read, and nothing is believed that the file says of itself. */
  readonly verifyChunks?: boolean;
}

/**
 * Answers what a file is. Throws only I/O errors and the signal's reason. Everything that is wrong with the content is a reason in the
 * answer.
 */
export async function inspectRecording(source: RandomAccessSource, options: InspectOptions): Promise<Inspection> {
  const context = createReadContext(source, options);
  context.signal?.throwIfAborted();
  const found = options.verifyChunks ? await verify(source, options) : await look(options.fileName, context);
  if (!("reason" in found) || found.state === "unsupported" || !options.salvage) return found;
  return { ...found, salvage: await findSalvage(options.fileName, context) };
}

/**
 * Answers what a finished file is, by its summary alone, in a few megabytes of memory. Answers undefined if the summary does not suffice or
 * something is wrong; then `inspectRecording` finds out.
 */
export async function inspectSummary(
  source: RandomAccessSource,
  options: Pick<InspectOptions, "fileName" | "signal">,
): Promise<(Inspection & { state: "finished" | "empty" }) | undefined> {
  const context = createReadContext(source, { ...options, limits: summaryLimits });
  context.signal?.throwIfAborted();
  try {
    const format = await detectFormat(source, options.fileName);
    const survey = await format.inspectSummary(context);
    if (!survey) return undefined;
    const summary = toSummary(survey, { format: format.name, sizeBytes: source.sizeBytes, method: "index" });
    return { state: summary.messageCount === 0 ? "empty" : "finished", summary };
  } catch (error) {
    if (error instanceof RecordingError) return undefined;
    throw error;
  }
}

/**
 * Says whether viewers find each message of an MCAP file by its summary: all are in chunks, and it names every chunk. They read nothing else.
 * Throws only I/O errors and the signal's reason.
 */
export async function isIndexedMcap(source: RandomAccessSource, signal?: AbortSignal): Promise<boolean> {
  const context = createReadContext(source, { limits: summaryLimits, ...(signal && { signal }) });
  try {
    const survey = await inspectMcapSummary(context);
    return survey !== undefined && !survey.hasLooseMessages;
  } catch (error) {
    if (error instanceof RecordingError) return false;
    throw error;
  }
}

async function verify(source: RandomAccessSource, options: InspectOptions): Promise<Inspection> {
  const { sha256: _, ...found } = await indexRecording(source, { ...options, write: async () => undefined });
  return found;
}

/** Reads as little as is needed to say what the file is. */
async function look(fileName: string, context: ReadContext): Promise<Inspection> {
  try {
    const format = await detectFormat(context.source, fileName);
    const { survey, method, doubt } = await format.inspect(context);
    const summary = toSummary(survey, { format: format.name, sizeBytes: context.source.sizeBytes, method });
    if (doubt) summary.damage = { ...nothingLost, reasons: [doubt] };
    return { state: summary.messageCount === 0 ? "empty" : "finished", summary };
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
    return { state: stateOf(error.reason.code), reason: error.reason };
  }
}

const nothingLost = { chunksLost: 0, messagesLost: 0, isCountKnown: false, attachmentsLost: 0, bytesLost: 0 };

/**
 * Whether a recording has its end; a whole end counts also if the first bytes are damaged. It is `impossible` if the first bytes are of no
 * format that is read, or of another one than the name says, whatever comes behind them.
 */
export type RecordingEnd = "there" | "missing" | "impossible";

/** Looks for the end only, which is cheap: it reads a few kilobytes of an MCAP file, and the index section of a bag. */
export async function findEnd(
  source: RandomAccessSource,
  fileName: string,
  limits?: Partial<InspectLimits>,
): Promise<RecordingEnd> {
  const fault = await faultOf(async () => {
    const format = await detectByName(source, fileName);
    await format.requireEnd(createReadContext(source, { limits }));
  });
  if (fault === undefined) return "there";
  return stateOf(fault.code) === "unsupported" ? "impossible" : "missing";
}

export async function isFinished(source: RandomAccessSource, fileName: string): Promise<boolean> {
  return (await findEnd(source, fileName)) === "there";
}

async function faultOf(work: () => Promise<void>): Promise<Reason | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof RecordingError) return error.reason;
    throw error;
  }
}
