import { detectFormat } from "../detect-format.ts";
import type { RecordingFormat } from "../formats.ts";
import type { MessageRun } from "../message-run.ts";
import type { ReadContext } from "../read-context.ts";
import type { Survey } from "../survey.ts";

export interface ExportSelection {
  /** Topic names; absent or empty: all. */
  topics?: readonly string[];
  /** First and last log time, both inclusive. */
  startNs?: bigint;
  endNs?: bigint;
}

export interface ExportPlan {
  format: RecordingFormat;
  survey: Survey;
  /** In file order; only those that may hold selected messages. */
  runs: MessageRun[];
  isSelected(channelId: number, logTimeNs: bigint): boolean;
}

/** Skims the source once. Faults when it is not a finished recording. */
export async function planExport(
  context: ReadContext,
  { fileName, ...selection }: ExportSelection & { fileName: string },
): Promise<ExportPlan> {
  const format = await detectFormat(context.source, fileName);
  const topics = new Set(selection.topics);
  const { startNs, endNs } = selection;
  const runs: MessageRun[] = [];
  const survey = await format.survey(context, {
    onRun(run, channelIds, { channels }) {
      if (startNs !== undefined && run.endNs < startNs) return;
      if (endNs !== undefined && run.startNs > endNs) return;
      for (const channelId of channelIds) {
        if (topics.size > 0 && !topics.has(channels.get(channelId)!.topic)) continue;
        runs.push(run);
        return;
      }
    },
  });
  const unwanted = new Set<number>();
  for (const { id, topic } of survey.channels.values()) if (topics.size > 0 && !topics.has(topic)) unwanted.add(id);
  const isSelected = (channelId: number, logTimeNs: bigint): boolean =>
    !unwanted.has(channelId) &&
    (startNs === undefined || logTimeNs >= startNs) &&
    (endNs === undefined || logTimeNs <= endNs);
  return { format, survey, runs, isSelected };
}
