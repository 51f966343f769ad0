import type { SurveyOptions } from "../message-run.ts";
import type { ReadContext } from "../read-context.ts";
import type { RecordingSummary } from "../summary.ts";
import { createSurvey, type Survey } from "../survey.ts";
import { indexBag } from "./bag-index.ts";
import { surveyBag } from "./survey-bag.ts";

/** Surveys a bag that has its end; otherwise faults with `ActiveBag` or `NoEnd`. */
export async function inspectBag(
  context: ReadContext,
  options: { verify: boolean },
): Promise<{ survey: Survey; method: RecordingSummary["method"] }> {
  const indexed = await indexBag(context);
  if (!options.verify) return { survey: indexed, method: "index" };
  const survey = await surveyFinishedBag(context, { ...options, indexed });
  return { survey, method: "scan" };
}

/** Skims a bag whose index was checked, so that no chunk need be decompressed to find its connections. */
export async function surveyFinishedBag(
  context: ReadContext,
  options: SurveyOptions & { indexed?: Survey } = {},
): Promise<Survey> {
  const { schemas, channels, heldBytes } = options.indexed ?? (await indexBag(context));
  const survey = { ...createSurvey(), schemas, channels, heldBytes };
  await surveyBag(survey, context, options);
  return survey;
}
