import { inRounds } from "../../codecs/one-by-one.ts";
import type { ReadContext } from "../../reading/read-context.ts";
import type { Channel, Schema } from "../../survey/survey.ts";
import { NO_INDEX, type RunPage, runFlags } from "../../verified/index-pages.ts";
import type { IndexedChannel, VerifiedIndex } from "../../verified/read-index.ts";
import { createSelection, type Selection, UNWANTED } from "../rewrite/selection.ts";
import type { DamageReport } from "./damage-report.ts";
import type { ExportSource, McapExportOptions } from "./export-options.ts";
import type { IdTable } from "./id-table.ts";
import type { OpenSource, PlannedChannel, WantedOfRun } from "./planned-source.ts";
import { type RowPlace, RunTable } from "./run-table.ts";

export interface PlanOptions {
  /** The place of the source among all sources. */
  readonly index: number;
  readonly ids: IdTable;
  readonly options: McapExportOptions;
  readonly damage: DamageReport | undefined;
  /** Whether all runs are read, in their order. */
  readonly readsAll: boolean;
}

interface Planning {
  readonly source: ExportSource;
  readonly index: VerifiedIndex;
  readonly context: ReadContext;
  readonly planning: PlanOptions;
}

type Planned = Omit<OpenSource, "hold" | "release" | "close">;

/**
 * Decides what of a source is wanted, by its index alone. That is our own verified index, not the summary of the file: of 30 odd files of
 * other programs, five had indexes that lie, and an export by them lost messages silently.
 */
export async function planRuns({ source, index, context, planning }: Planning): Promise<Planned> {
  const { options, ids, damage } = planning;
  const { startNs, endNs } = options;
  const topics = new Set(options.topics);
  const channels = await index.channels();
  const wanted = channels.map(
    ({ channel }) => channel !== undefined && (topics.size === 0 || topics.has(channel.topic)),
  );
  const runs = new RunTable(planning.index * MAX_RUNS, index.head.compressions);
  const judge = createJudge({ index, wanted, planning, hasDescriptor: context.source.descriptor !== undefined });
  await damage?.addIndexed(source.fileName, index);
  for await (const { number, page } of index.pages({ startNs, endNs })) {
    for (let row = 0; row < page.count; row += 1) {
      if (!judge.isInReach(page, row)) continue;
      if (page.runs.flags[row]! & runFlags.damaged)
        await damage?.addRun({ source, context, page, row, channels, wanted, options });
      else judge.add(runs, { page, pageNumber: number, row });
    }
  }
  runs.sort();
  if (planning.readsAll) context.source.expect?.(runs.ranges());
  const schemas = await index.schemas(context.source, runs.mayPassSome ? undefined : schemaIdsOf(channels, wanted));
  // Chunks hold schema and channel records of their own, so that passing them on needs every id of the source.
  const tables = { schemas, channels: toMap(channels) };
  const keepsIds = runs.mayPassSome && (await ids.reserve(tables));
  if (!keepsIds) runs.forbidPassing();
  return {
    fileName: source.fileName,
    formatName: index.head.format,
    context,
    survey: {
      profile: index.head.profile,
      channels: tables.channels,
      metadata: await index.metadata(),
      attachments: options.includeAttachments ? await index.attachments() : [],
    },
    runs,
    selection: await selectionOf({ channels, wanted, schemas, ids, options }),
    channelsOf: createChannelReader(index, channels),
  };
}

/** The most runs of one source. No index has more. */
const MAX_RUNS = 2 ** 21;

function schemaIdsOf(channels: readonly IndexedChannel[], wanted: readonly boolean[]): Set<number> {
  return new Set(channels.flatMap(({ channel }, number) => (channel && wanted[number] ? [channel.schemaId] : [])));
}

function toMap(channels: readonly IndexedChannel[]): Map<number, Channel> {
  return new Map(channels.flatMap(({ id, channel }) => (channel ? [[id, channel]] : [])));
}

interface Judging {
  readonly index: VerifiedIndex;
  /** Whether a channel is wanted, by its number. */
  readonly wanted: readonly boolean[];
  readonly planning: PlanOptions;
  readonly hasDescriptor: boolean;
}

/** Decides for each run of an index what of it is wanted, and whether it may be passed on or picked from. */
function createJudge({ index, wanted, planning: { options }, hasDescriptor }: Judging) {
  const { startNs, endNs, compression } = options;
  const [firstNs, lastNs] = [startNs ?? 0n, endNs ?? 2n ** 63n - 1n];
  const compressionNumber = index.head.compressions.indexOf(compression);
  const plainNumber = index.head.compressions.indexOf("");
  const mayPickAny = hasDescriptor && options.readsWholeChunks !== true;

  const sumUp = ({ runs, channels }: RunPage, row: number): WantedOfRun => {
    const sum = { messageCount: 0, recordsBytes: 0, lastEnd: 0, isAll: true, mayPass: false, mayPick: false };
    for (let at = runs.channelEnds[row - 1] ?? 0; at < runs.channelEnds[row]!; at += 1) {
      if (!wanted[channels.channels[at]!]) {
        sum.isAll = false;
        continue;
      }
      sum.messageCount += channels.messageCounts[at]!;
      sum.recordsBytes += channels.recordsBytes[at]!;
      sum.lastEnd = Math.max(sum.lastEnd, channels.lastEnds[at]!);
    }
    return sum;
  };
  return {
    isInReach: ({ runs }: RunPage, row: number): boolean =>
      runs.endsNs[row]! >= firstNs && runs.startsNs[row]! <= lastNs,
    add(table: RunTable, place: RowPlace): void {
      const {
        page: { runs },
        row,
      } = place;
      const sum = sumUp(place.page, row);
      if (sum.messageCount === 0) return;
      const isWithin = runs.startsNs[row]! >= firstNs && runs.endsNs[row]! <= lastNs;
      sum.isAll &&= isWithin;
      const flags = runs.flags[row]!;
      const isPlain = runs.compressions[row] === plainNumber;
      sum.mayPass = sum.isAll && (flags & runFlags.mayPass) !== 0 && runs.compressions[row] === compressionNumber;
      const isSparse = sum.messageCount * PICKED_MESSAGE_BYTES + sum.recordsBytes * 4 <= runs.lengths[row]!;
      sum.mayPick = mayPickAny && isPlain && isSparse && (flags & runFlags.trueIndexes) !== 0;
      table.add(place, sum);
    },
  };
}

/** To find and read one message alone costs about as much time as to read so many bytes. */
const PICKED_MESSAGE_BYTES = 8 * 1024;

interface Selecting {
  readonly channels: readonly IndexedChannel[];
  readonly wanted: readonly boolean[];
  readonly schemas: ReadonlyMap<number, Schema>;
  readonly ids: IdTable;
  readonly options: PlanOptions["options"];
}

async function selectionOf({ channels, wanted, schemas, ids, options }: Selecting): Promise<Selection> {
  const map = new Map<number, number>();
  for await (const [number, { id, channel, tally }] of inRounds(channels.entries())) {
    // Nothing is written of a channel without messages.
    const isUsed = channel !== undefined && wanted[number] && tally.messageCount > 0;
    map.set(id, isUsed ? ids.idOf(channel, schemas.get(channel.schemaId)) : UNWANTED);
  }
  return createSelection(map, options);
}

/** Keeps the pages that were read last, because runs are mostly asked for one behind the other. */
function createChannelReader(index: VerifiedIndex, channels: readonly IndexedChannel[]): OpenSource["channelsOf"] {
  const held = new Map<number, Promise<RunPage>>();
  const pageAt = (number: number): Promise<RunPage> => {
    const page = held.get(number) ?? index.page(number);
    held.delete(number);
    held.set(number, page);
    if (held.size > HELD_PAGES) held.delete(held.keys().next().value!);
    return page;
  };
  return async ({ place: { pageNumber, row } }) => {
    const page = await pageAt(pageNumber);
    const found: PlannedChannel[] = [];
    for (let at = page.runs.channelEnds[row - 1] ?? 0; at < page.runs.channelEnds[row]!; at += 1) {
      found.push(toPlannedChannel(page, at, channels[page.channels.channels[at]!]!.id));
    }
    return found;
  };
}

const HELD_PAGES = 2;

function toPlannedChannel({ channels }: RunPage, at: number, channelId: number): PlannedChannel {
  const indexStart = channels.indexStarts[at]!;
  return {
    channelId,
    messageCount: channels.messageCounts[at]!,
    recordsBytes: channels.recordsBytes[at]!,
    startNs: channels.startsNs[at]!,
    endNs: channels.endsNs[at]!,
    indexStart: indexStart === NO_INDEX ? -1 : indexStart,
  };
}
