import { RecordingError } from "../faults/reasons.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { openWindowReader } from "../reading/window-reader.ts";
import type { RecordingSummary } from "../survey/summary.ts";
import type { Survey } from "../survey/survey.ts";
import { createSurvey } from "../survey/survey.ts";
import { createDamageLog } from "../verified/damage-log.ts";
import { readBagHeader, readBagIndex } from "./bag-index.ts";
import { namesAllChunks } from "./named-chunks.ts";
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
