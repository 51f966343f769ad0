import type { ReadContext } from "../read-context.ts";
import type { RecordingSummary } from "../summary.ts";
import type { Survey } from "../survey.ts";
import { indexBag } from "./bag-index.ts";

/** Surveys a bag that has its end; otherwise faults with `ActiveBag` or `NoEnd`. */
export async function inspectBag(
  context: ReadContext,
): Promise<{ survey: Survey; method: RecordingSummary["method"] }> {
  return { survey: await indexBag(context), method: "index" };
}
