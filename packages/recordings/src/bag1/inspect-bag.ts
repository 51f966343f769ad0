import { RecordingError } from "../faults/reasons.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { openWindowReader } from "../reading/window-reader.ts";
import type { RecordingSummary } from "../survey/summary.ts";
import { createSurvey, type Survey } from "../survey/survey.ts";
import { createDamageLog } from "../verified/damage-log.ts";
import { type BagIndex, readBagHeader, readBagIndex } from "./bag-index.ts";
import { type RecordReading, readRecord } from "./record-frame.ts";
import { magic, opcodeOf, opcodes } from "./records.ts";
import { surveyBag } from "./survey-bag.ts";

/**
 * Surveys a bag that has its end, and otherwise throws `ActiveBag` or `NoEnd`. If its index knows only a part of the chunks, all records are
 * skimmed; it throws `BadSummary` if something between them makes no sense.
 */
export async function inspectBag(
  context: ReadContext,
): Promise<{ survey: Survey; method: RecordingSummary["method"] }> {
  const index = await readBagIndex(context);
  if (await namesAllChunks(index, context)) return { survey: index.survey, method: "index" };
  const survey = createSurvey();
  const damage = createDamageLog();
  await surveyBag(survey, context, damage);
  const [reason] = damage.sum()?.reasons ?? [];
  if (reason) throw new RecordingError("BadSummary", `the bag's index does not name all chunks, and ${reason.text}`);
  return { survey, method: "skim" };
}

/** Surveys a bag whose index is small. Answers undefined if it is not small, or does not name all chunks. */
export async function inspectBagSummary(context: ReadContext): Promise<Survey | undefined> {
  const { indexPosition } = await readBagHeader(openWindowReader(context), context);
  const indexBytes = context.source.sizeBytes - indexPosition;
  if (indexBytes > context.limits.maxSummaryBytes) return undefined;
  const index = await readBagIndex(context);
  return (await namesAllChunks(index, context)) ? index.survey : undefined;
}

/**
 * Whether no chunk stands before the first or behind the last one that the index of a bag names, as repaired bags have them. Between two
 * chunks it would take a read for each to see that.
 */
export async function namesAllChunks(index: BagIndex, context: ReadContext): Promise<boolean> {
  const reading = { context, reader: openWindowReader(context), code: "BadSummary" } as const;
  const { indexPosition, firstChunk, lastChunk } = index;
  try {
    const from = (await readRecord(magic.byteLength, reading)).end;
    if (!(await isFilled({ from, to: Math.min(firstChunk, indexPosition), chunkCount: 0 }, reading))) return false;
    return lastChunk < 0 || (await isFilled({ from: lastChunk, to: indexPosition, chunkCount: 1 }, reading));
  } catch (error) {
    if (error instanceof RecordingError) return false;
    throw error;
  }
}

/** A part of a file, and the chunks that may stand in it. */
interface Part {
  readonly from: number;
  readonly to: number;
  readonly chunkCount: number;
}

/** Whether whole records fill the part. */
async function isFilled({ from, to, chunkCount }: Part, reading: RecordReading): Promise<boolean> {
  let [offset, chunks] = [from, 0];
  for (let left = MOST_RECORDS; offset < to && left > 0; left -= 1) {
    const { header, end } = await readRecord(offset, reading);
    if (opcodeOf(header) === opcodes.chunk) chunks += 1;
    if (chunks > chunkCount) return false;
    offset = end;
  }
  return offset === to;
}

/** One chunk has at most as many index data records as connections. */
const MOST_RECORDS = 100_000;
