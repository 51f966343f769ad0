import { DefinedTwiceError, type Reason, RecordingError } from "../faults/reasons.ts";
import type { Beginning } from "../reading/begun-chunk.ts";
import { MAX_TIME_NS } from "../reading/field-cursor.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { type OnUnknown, tallyChunk } from "../reading/tally-chunk.ts";
import { openWindowReader, type WindowReader } from "../reading/window-reader.ts";
import { type Survey, settleSpans } from "../survey/survey.ts";
import type { DamageLog } from "../verified/damage-log.ts";
import { createUnknownChannels } from "../verified/unknown-channels.ts";
import { type BegunChunk, type DamagedReading, judgeRefused } from "./judge-chunk.ts";
import { bytesBehind, isFileStart } from "./mcap-end.ts";
import { magic, opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";
import { endOfFramed, isRecordAt, parseRecordHead, type RecordHead } from "./record-head.ts";
import { createResync, type Resync } from "./resync-mcap.ts";
import { createItemVisitor, type ItemVisitor } from "./survey-mcap.ts";
import { itemOf, type McapChunk, type McapItem } from "./walk-mcap.ts";

interface Skim extends DamagedReading {
  readonly damage: DamageLog;
  readonly visitor: ItemVisitor;
  /** Takes the messages of channels that may be introduced later. */
  readonly onUnknown: OnUnknown;
  readonly resync: Resync;
  readonly sizeBytes: number;
  /** See `Verifying`. */
  coveredEnd: number;
}

/**
 * Skims a file whatever is wrong with it, by the same judgement of what is readable as a salvage. What makes no sense is noted as damage.
 * Answers where another file begins, or where this one ends.
 */
export async function surveyDamagedMcap(survey: Survey, context: ReadContext, damage: DamageLog): Promise<number> {
  const reader: WindowReader = openWindowReader(context);
  const unknown = createUnknownChannels();
  const visitor = createItemVisitor(survey, context, unknown.add);
  const reading = { context, reader, survey };
  const { sizeBytes } = context.source;
  const shared = { damage, visitor, onUnknown: unknown.add, sizeBytes, coveredEnd: Number.POSITIVE_INFINITY };
  const end = await skim({ ...reading, ...shared, resync: createResync(reading) });
  unknown.settle(survey, damage);
  settleSpans(survey, MAX_TIME_NS);
  return end;
}

async function skim(skimming: Skim): Promise<number> {
  const { sizeBytes } = skimming;
  const at: Place = { offset: magic.byteLength, item: undefined };
  while (at.offset < sizeBytes) {
    try {
      const next = await endOf(await visitItems(at, skimming), skimming);
      if (next.isFile) return next.offset;
      at.offset = next.offset;
    } catch (error) {
      if (!(error instanceof RecordingError)) throw error;
      const { offset, item } = at;
      if (await isFileStart(offset, skimming)) return offset;
      const next = await goOn({ offset, error, item }, skimming);
      if (next.isFile) return next.offset;
      at.offset = next.offset;
    }
  }
  return sizeBytes;
}

type ChunkItem = McapItem & { readonly kind: "chunk" };

/** Where the skim is, and the item that stands there once it is read. */
interface Place {
  offset: number;
  item: McapItem | undefined;
}

/** Visits what makes sense, and answers the footer. Millions of small records are common, so that it awaits only where it must. */
async function visitItems(at: Place, skimming: Skim): Promise<RecordHead> {
  const { context, reader, visitor, sizeBytes } = skimming;
  while (true) {
    at.item = undefined;
    const bytes = reader.peek(at.offset, RECORD_HEAD_BYTES) ?? (await reader.fetch(at.offset, RECORD_HEAD_BYTES));
    const head = parseRecordHead(bytes, at.offset, sizeBytes);
    if (head.end > skimming.coveredEnd) throw reachesBeyond(head);
    if (head.opcode === opcodes.footer) return head;
    const found = itemOf(head, reader, context);
    at.item = found instanceof Promise ? await found : found;
    const visited = visitor.visit(at.item);
    if (visited !== undefined) await visited;
    at.offset = at.item.kind === "chunk" ? await behindChunk(at.item, skimming) : at.item.end;
  }
}

function reachesBeyond({ offset }: RecordHead): RecordingError {
  return new RecordingError("BadRecord", `the record at byte ${offset} reaches beyond the one that covers it`);
}

/** Records that a message index covers are visited as a salvage reads them; behind the last it goes on where the index ends. */
async function behindChunk({ chunk, coveredFrom, end }: ChunkItem, skimming: Skim): Promise<number> {
  if (coveredFrom === undefined) return end;
  const text = `a message index of the chunk at byte ${chunk.offset} is longer than it is: other records stand there`;
  skimming.damage.addSummary(chunk.offset, { code: "BadRecord", text });
  if (await isRecordAt(end, skimming.context)) skimming.coveredEnd = end;
  return coveredFrom;
}

/** What a record covers makes no sense any more: it goes on where that record ends by its own length. */
function leaveCovered(offset: number, reason: Reason, skimming: Skim): Next {
  const { coveredEnd, damage } = skimming;
  skimming.coveredEnd = Number.POSITIVE_INFINITY;
  if (coveredEnd > offset) damage.addGap({ offset, end: coveredEnd, reason });
  return { offset: Math.max(coveredEnd, offset) };
}

/** A file ends with a footer and the magic. Behind them another file may begin, or chunks of this one may stand that were moved. */
async function endOf({ end, offset }: RecordHead, skimming: Skim): Promise<Next> {
  const behind = end + magic.byteLength;
  if (await isFileStart(behind, skimming)) return { offset: behind, isFile: true };
  if (behind >= skimming.sizeBytes) return { offset: skimming.sizeBytes };
  return search({ offset: end, from: end, reason: bytesBehind(offset) }, skimming);
}

/** A place that makes no sense. `item` is what stands there, if its record makes sense. */
interface Stop {
  readonly offset: number;
  readonly error: RecordingError;
  readonly item: McapItem | undefined;
}

interface Next {
  readonly offset: number;
  readonly isFile?: boolean;
}

async function goOn({ offset, error, item }: Stop, skimming: Skim): Promise<Next> {
  const { reason } = error;
  if (!item && skimming.coveredEnd < skimming.sizeBytes) return leaveCovered(offset, reason, skimming);
  if (item?.kind === "chunk") return passChunk(item, reason, skimming);
  const { visitor, damage, survey, sizeBytes, resync } = skimming;
  if (visitor.isBehindData && survey.tallies.size > 0) {
    damage.addSummary(offset, reason);
    return { offset: item?.end ?? sizeBytes };
  }
  const judged = await resync.judge(offset);
  if (judged?.kind === "begun") return passBegun(judged, reason, skimming);
  const passed = judged?.kind === "chunk" ? await passWhole(judged.head, skimming) : undefined;
  if (passed !== undefined) {
    damage.addSummary(offset, reason);
    return { offset: passed };
  }
  const isChunk = error instanceof DefinedTwiceError;
  const end = isChunk ? undefined : await endOfFramed(offset, skimming.context);
  if (end === undefined) return search({ offset, from: offset + 1, reason, isChunk }, skimming);
  damage.addGap({ offset, end, reason });
  return { offset: end };
}

/** Reads what can be had of a chunk whose lengths make sense, and that cannot be read as a whole. */
async function passChunk(item: ChunkItem, reason: Reason, skimming: Skim): Promise<Next> {
  const { chunk, indexed } = item;
  const end = await behindChunk(item, skimming);
  const recordEnd = chunk.dataOffset + chunk.storedBytes;
  const judged = await judgeRefused(chunk, skimming, recordEnd);
  if (judged && (await addBegun(judged.beginning, skimming))) {
    if (judged.isConfirmed) skimming.damage.addSummary(chunk.offset, reason);
    else skimming.damage.addGap({ offset: judged.beginning.end, end: recordEnd, reason, begun: judged.beginning });
    return { offset: end };
  }
  let messagesLost: number | undefined = indexed.size === 0 ? undefined : 0;
  for (const tally of indexed.values()) messagesLost = (messagesLost ?? 0) + tally.messageCount;
  skimming.damage.addChunk({ offset: chunk.offset, end: recordEnd, reason, messagesLost });
  return { offset: end };
}

/** Adds a chunk whose record alone is damaged. Answers where to go on; undefined if it cannot be read all the same. */
async function passWhole(head: RecordHead, skimming: Skim): Promise<number | undefined> {
  const { context, reader, visitor } = skimming;
  try {
    const item = await itemOf(head, reader, context);
    await visitor.visit(item);
    return item.kind === "chunk" ? await behindChunk(item, skimming) : item.end;
  } catch (error) {
    if (error instanceof RecordingError) return undefined;
    throw error;
  }
}

async function passBegun({ beginning, isConfirmed }: BegunChunk, reason: Reason, skimming: Skim): Promise<Next> {
  const { offset } = beginning.chunk;
  if (!(await addBegun(beginning, skimming))) return search({ offset, from: offset + 1, reason }, skimming);
  const end = await endOfFramed(offset, skimming.context);
  if (end !== undefined && end >= beginning.end) {
    if (isConfirmed) skimming.damage.addSummary(offset, reason);
    else skimming.damage.addGap({ offset: beginning.end, end, reason, begun: beginning });
    return { offset: end };
  }
  return search({ offset: beginning.end, from: beginning.end, reason, begun: beginning }, skimming);
}

/** Answers false if it contradicts what is known of the file. */
async function addBegun({ chunk }: Beginning<McapChunk>, skimming: Skim): Promise<boolean> {
  const { survey, context, visitor, onUnknown } = skimming;
  try {
    await tallyChunk(survey, { chunk, indexed: new Map(), scan: visitor.scan, onUnknown }, context);
    return true;
  } catch (error) {
    if (error instanceof RecordingError) return false;
    throw error;
  }
}

interface Gap {
  readonly offset: number;
  readonly from: number;
  readonly reason: Reason;
  readonly begun?: Beginning;
  /** Only chunks are looked for. */
  readonly isChunk?: boolean;
}

async function search({ from, isChunk = false, ...gap }: Gap, skimming: Skim): Promise<Next> {
  const { resync, damage, sizeBytes } = skimming;
  const found = await resync.find(from, { isChunk });
  damage.addGap({ ...gap, end: found?.offset ?? sizeBytes });
  if (!found) return { offset: sizeBytes };
  if (found.kind === "file") return { offset: found.offset, isFile: true };
  if (found.kind === "loose") return { offset: found.offset };
  if (found.kind === "begun") return passBegun(found, gap.reason, skimming);
  return { offset: (await passWhole(found.head, skimming)) ?? found.offset + 1 };
}
