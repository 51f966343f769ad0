import { detectFormat } from "../../detect-format.ts";
import type { RecordingFormat } from "../../formats.ts";
import type { MessageRun, SurveyOptions } from "../../message-run.ts";
import { createReadContext, type ReadContext } from "../../read-context.ts";
import { RecordingFault } from "../../reasons.ts";
import { surveyReadable } from "../../salvage/survey-readable.ts";
import type { Survey } from "../../survey.ts";
import type { ExportSource, McapExportOptions } from "../export-options.ts";
import type { IdTable } from "../output/id-table.ts";
import { type Selection, unwanted } from "../rewrite/select-messages.ts";
import { createRunTable, type RunTable } from "./run-table.ts";

/** A source that is open, and what of it is wanted. */
export interface OpenSource {
  fileName: string;
  format: RecordingFormat;
  context: ReadContext;
  survey: Survey;
  /** Only those that may hold selected messages. */
  runs: RunTable;
  selection: Selection;
  /** Keeps it open until so many more calls of `release`. It is opened with one. */
  hold(count: number): void;
  release(): Promise<void>;
  /** At once, whoever holds it. */
  close(): Promise<void>;
}

export interface PlannedRun extends MessageRun {
  source: OpenSource;
  /** Of the source among the sources, then of the run in its file: the order of equal times. */
  order: number;
  /** Selected ones in it; kept for lookback only. */
  channelIds: readonly number[];
  /** As far as the run alone decides: right compression, wholly selected, its ids those of the written file. */
  mayPass: boolean;
}

export interface Opening {
  /** Of the source among all sources. */
  index: number;
  ids: IdTable;
  options: McapExportOptions;
  /** Its runs keep their channels, and none is passed on. */
  isLookback?: boolean;
  onOpened?: OnOpened;
  onClosed?: () => void;
}

export type OnOpened = (source: OpenSource) => Promise<void>;

/** Opens and plans a source. Faults when it is not a finished recording. */
export async function openSource(source: ExportSource, opening: Opening): Promise<OpenSource> {
  const { signal } = opening.options;
  const bytes = await source.open(signal);
  let holders = 1;
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    opening.onClosed?.();
    await bytes[Symbol.asyncDispose]();
  };
  const hold = (count: number): void => {
    holders += count;
  };
  const release = async (): Promise<void> => {
    holders -= 1;
    if (holders === 0) await close();
  };
  try {
    const context = createReadContext(bytes, { signal });
    const planned = await planSource(source, context, opening);
    const opened: OpenSource = { ...planned, hold, release, close };
    await opening.onOpened?.(opened);
    return opened;
  } catch (error) {
    await bytes[Symbol.asyncDispose]();
    if (!(error instanceof RecordingFault)) throw error;
    throw new RecordingFault(error.reason.code, `${source.fileName}: ${error.reason.text}`);
  }
}

type Planned = Omit<OpenSource, "hold" | "release" | "close">;

async function planSource(
  { fileName, isSalvage }: ExportSource,
  context: ReadContext,
  opening: Opening,
): Promise<Planned> {
  const { options, ids, isLookback = false } = opening;
  const { startNs, endNs } = options;
  const topics = new Set(options.topics);
  const isWanted = (topic: string): boolean => topics.size === 0 || topics.has(topic);
  const format = await detectFormat(context.source, fileName);
  const runs = createRunTable(opening.index * maxRuns);
  const surveying: SurveyOptions = {
    onRun(run, channelIds, { channels }) {
      if ((startNs !== undefined && run.endNs < startNs) || (endNs !== undefined && run.startNs > endNs)) return;
      const wanted = Array.from(channelIds).filter((id) => isWanted(channels.get(id)!.topic));
      if (wanted.length === 0) return;
      const isInside = (startNs === undefined || run.startNs >= startNs) && (endNs === undefined || run.endNs <= endNs);
      const isSame = run.indexed !== undefined && run.chunk?.compression === options.compression;
      const isWhole = isInside && wanted.length === Array.from(channelIds).length;
      runs.add(run, { channelIds: isLookback ? wanted : none, mayPass: !isLookback && isSame && isWhole });
    },
  };
  const survey = isSalvage ? await surveyReadable(format, context, surveying) : await format.survey(context, surveying);
  // Chunks carry channel records of their own: passing them on needs every id of the source.
  const keepsIds = runs.mayPassSome && ids.reserve(survey);
  if (!keepsIds) runs.forbidPassing();
  runs.sort();
  const selection = { startNs, endNs, ids: mapIds(survey, isWanted, ids) };
  return { fileName, format, context, survey, runs, selection };
}

const none: readonly number[] = [];
/** Of one source; more are refused by its survey. */
const maxRuns = 2 ** 21;

function mapIds(survey: Survey, isWanted: (topic: string) => boolean, ids: IdTable): Map<number, number> {
  const map = new Map<number, number>();
  for (const channel of survey.channels.values()) {
    const id = isWanted(channel.topic) ? ids.idOf(channel, survey.schemas.get(channel.schemaId)) : unwanted;
    map.set(channel.id, id);
  }
  return map;
}
