import { RecordingError } from "../faults/reasons.ts";
import type { ReadContext } from "../reading/read-context.ts";
import type { Survey } from "../survey/survey.ts";
import type { DamageLog } from "../verified/damage-log.ts";
import { surveyMcap } from "./survey-mcap.ts";

/** Skims a file as far as it makes sense, and notes the rest as damage. Answers where the file ends. */
export async function surveyDamagedMcap(survey: Survey, context: ReadContext, damage: DamageLog): Promise<number> {
  const { sizeBytes } = context.source;
  try {
    await surveyMcap(survey, context);
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
    damage.addGap({ offset: survey.readableBytes, end: sizeBytes, reason: error.reason });
  }
  return sizeBytes;
}
