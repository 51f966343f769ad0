import { detectFormat } from "./detect-format.ts";
import type { RecordingFormat } from "./formats.ts";
import type { InspectLimits } from "./limits.ts";
import { createReadContext } from "./read-context.ts";
import { type Reason, RecordingFault, stateOf } from "./reasons.ts";
import { findSalvage } from "./salvage/find-salvage.ts";
import type { RandomAccessSource } from "./source.ts";
import type { Inspection } from "./summary.ts";
import { toSummary } from "./to-summary.ts";

export interface InspectOptions {
  /** Only its extension matters. */
  fileName: string;
  signal?: AbortSignal;
  /** Compute what is readable of an incomplete or damaged file; reads all of its record headers. */
  salvage?: boolean;
  limits?: Partial<InspectLimits>;
  /** Decompress and check every chunk, and count messages instead of believing the file. */
  verifyChunks?: boolean;
}

/** What a file is. Only I/O errors and aborts throw; everything wrong with the content is a reason. */
export async function inspectRecording(source: RandomAccessSource, options: InspectOptions): Promise<Inspection> {
  const { fileName, verifyChunks = false } = options;
  const context = createReadContext(source, options);
  let format: RecordingFormat | undefined;
  try {
    context.signal?.throwIfAborted();
    format = await detectFormat(source, fileName);
    const { survey, method } = await format.inspect(context, { verify: verifyChunks });
    const summary = toSummary(survey, { format: format.name, sizeBytes: source.sizeBytes, method });
    return { state: summary.messageCount === 0 ? "empty" : "finished", summary };
  } catch (error) {
    if (!(error instanceof RecordingFault)) throw error;
    const state = stateOf(error.reason.code);
    if (state === "unsupported" || !options.salvage) return { state, reason: error.reason };
    return { state, reason: error.reason, salvage: await findSalvage(format, context) };
  }
}

/** The cheap check whether a recording has its end; a few kilobytes for MCAP, the index section for bags. */
export async function isFinished(source: RandomAccessSource, fileName: string): Promise<boolean> {
  return (
    (await faultOf(async () => {
      const format = await detectFormat(source, fileName);
      await format.requireEnd(createReadContext(source));
    })) === undefined
  );
}

async function faultOf(work: () => Promise<void>): Promise<Reason | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof RecordingFault) return error.reason;
    throw error;
  }
}
