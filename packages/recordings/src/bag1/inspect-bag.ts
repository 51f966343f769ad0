import type { ReadContext } from "../reading/read-context.ts";
import { openWindowReader } from "../reading/window-reader.ts";
import type { RecordingSummary } from "../survey/summary.ts";
import type { Survey } from "../survey/survey.ts";
import { indexBag, readBagHeader } from "./bag-index.ts";

/** Surveys a bag that has its end, and otherwise throws `ActiveBag` or `NoEnd`. */
export async function inspectBag(
  context: ReadContext,
): Promise<{ survey: Survey; method: RecordingSummary["method"] }> {
  return { survey: await indexBag(context), method: "index" };
}

/** Surveys a bag whose index is small. Answers undefined if it is not small. */
export async function inspectBagSummary(context: ReadContext): Promise<Survey | undefined> {
  const { indexPosition } = await readBagHeader(openWindowReader(context), context);
  const indexBytes = context.source.sizeBytes - indexPosition;
  return indexBytes > context.limits.maxSummaryBytes ? undefined : await indexBag(context);
}
