import type { RecordingFormat } from "../formats.ts";
import type { SurveyOptions } from "../message-run.ts";
import type { ReadContext } from "../read-context.ts";
import { RecordingFault } from "../reasons.ts";
import { createSurvey, type Survey } from "../survey.ts";

/** What is in a file up to where it stops making sense. */
export async function surveyReadable(
  format: RecordingFormat,
  context: ReadContext,
  options: SurveyOptions = {},
): Promise<Survey> {
  const survey = createSurvey();
  try {
    await format.surveyIncomplete(survey, context, options);
  } catch (error) {
    if (!(error instanceof RecordingFault)) throw error;
  }
  return survey;
}
