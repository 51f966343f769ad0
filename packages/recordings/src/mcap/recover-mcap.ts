import { DefinedTwiceError, type Reason, RecordingError } from "../faults/reasons.ts";
import { asBuffer } from "../memory/as-buffer.ts";
import type { Beginning } from "../reading/begun-chunk.ts";
import type { Verifying } from "../verified/verifying.ts";
import { countLost, toDamagedRun } from "./damaged-chunk.ts";
import { type BegunChunk, judgeRefused } from "./judge-chunk.ts";
import { bytesBehind, isFileStart, joinedAt } from "./mcap-end.ts";
import { magic, opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";
import { endOfFramed, isBoundary, type RecordHead } from "./record-head.ts";
import type { RecordVisitor } from "./record-visitor.ts";
import type { Resumed, Resync } from "./resync-mcap.ts";
import type { StoredChunk } from "./stored-chunk.ts";
import { DamagedChunkError } from "./verify-chunk.ts";
import type { McapChunk } from "./walk-mcap.ts";

/*
 * Where bytes are missing, the records behind them begin before the record that lacks them is said to end. So what comes next is looked for
 * from inside that record, unless another one shows that its end is true.
 */

/** The state by which reading goes on behind a place that makes no sense. */
export interface Recovery {
  readonly verifying: Verifying;
  readonly visitor: RecordVisitor;
  readonly resync: Resync;
  readonly footerOffset: number;
  /** How often the summary made no sense. */
  summaryFaults: number;
  /** Nothing stands in the rest of the file that was moved there. */
  hasNothingMoved: boolean;
  /** Where the file ends. */
  fileEnd: number;
}

/** Where to go on. `head` is that of a chunk whose own record does not say where it ends. */
export interface Next {
  readonly offset: number;
  readonly head?: RecordHead;
}

/** A place that makes no sense. */
interface Stop {
  readonly error: unknown;
  readonly offset: number;
  /** The head of the record that stands there, where that much makes sense. */
  readonly head: RecordHead | undefined;
  /** The record was found to be sound in spite of its head, and cannot be read all the same. */
  readonly wasJudged: boolean;
}

/** Answers where to go on. In the summary nothing is lost, but what is no summary may still stand behind it. */
export async function goOn(recovery: Recovery, { error, offset, head, wasJudged }: Stop): Promise<Next> {
  if (!(error instanceof RecordingError)) throw error;
  const { verifying, visitor, footerOffset, resync } = recovery;
  const { damage, isSalvage, survey } = verifying;
  const { reason } = error;
  if (await isFileStart(offset, verifying)) return endAt(recovery, offset);
  if (offset < verifying.coveredEnd && verifying.coveredEnd < footerOffset)
    return passCovered(recovery, offset, reason);
  if (visitor.isInSummary && head?.opcode === opcodes.footer) return passFooter(recovery, head);
  if (visitor.isInSummary && survey.tallies.size > 0) return passSummary(recovery, { offset, head, reason });
  if (!isSalvage) throw error;
  await visitor.endMessages();
  if (error instanceof DamagedChunkError) return passDamaged(recovery, error);
  const judged = wasJudged ? undefined : await resync.judge(offset);
  if (judged?.kind === "chunk") {
    damage.addSummary(offset, reason);
    return { offset, head: judged.head };
  }
  if (judged?.kind === "begun") return passBegun(recovery, judged, reason);
  return passUnclear(recovery, offset, error);
}

/** In the summary nothing is lost. But blocks may have been moved there, or bytes of it may be missing in front of another file. */
async function passSummary(
  recovery: Recovery,
  { offset, head, reason }: Pick<Stop, "offset" | "head"> & { reason: Reason },
): Promise<Next> {
  const { verifying, visitor, resync, footerOffset } = recovery;
  verifying.damage.addSummary(offset, reason);
  const end = head?.end ?? (await framedEnd(verifying, offset));
  if (verifying.isSalvage && !recovery.hasNothingMoved && !(await isBoundary(end, verifying.context))) {
    const from = Math.min(visitor.searchFrom, offset + 1);
    const moved = await resync.find(from, { looseFrom: Number.POSITIVE_INFINITY });
    if (moved) return follow(recovery, moved, reason);
    recovery.hasNothingMoved = true;
  }
  recovery.summaryFaults += 1;
  return { offset: recovery.summaryFaults < MOST_SUMMARY_FAULTS ? Math.min(end, footerOffset) : footerOffset };
}

/** The records that a record covers make no sense any more: it goes on where that record ends by its own length. */
async function passCovered({ verifying, visitor }: Recovery, offset: number, reason: Reason): Promise<Next> {
  const { coveredEnd: end, damage } = verifying;
  verifying.coveredEnd = Number.POSITIVE_INFINITY;
  await visitor.endMessages();
  damage.addGap({ offset, end, reason });
  return { offset: end };
}

/**
 * Passes a chunk that cannot be read. If no checksum refutes its beginning, that is taken as far as it makes sense; if its checksum confirms
 * its content, only its sizes or its compressed frame are damaged.
 */
async function passDamaged(recovery: Recovery, { stored, reason }: DamagedChunkError): Promise<Next> {
  const { verifying, visitor, resync } = recovery;
  const { chunk, head } = stored;
  const { damage } = verifying;
  const judged = await judgeRefused(chunk, verifying, head.end);
  if (judged?.isConfirmed && (await visitor.addBegun(judged.beginning))) {
    damage.addSummary(head.offset, reason);
    return { offset: stored.end };
  }
  const next = await findInside(recovery, { from: judged?.beginning.lastStart ?? chunk.dataOffset, to: head.end });
  const shortened = next && judged ? await resync.shorten(chunk, next.offset) : judged;
  const end = next?.offset ?? head.end;
  if (shortened && (await visitor.addBegun(shortened.beginning)))
    damage.addGap({ offset: shortened.beginning.end, end, reason, begun: shortened.beginning });
  else await addLost(verifying, next ? endingAt(stored, end) : stored, reason);
  await resync.define(chunk, end);
  return next ? follow(recovery, next, reason) : { offset: stored.end };
}

async function addLost({ damage, add }: Verifying, stored: StoredChunk, reason: Reason): Promise<void> {
  const { offset, end } = stored.head;
  const lost = countLost(stored);
  damage.addChunk({ offset, end, reason, messagesLost: lost?.messageCount });
  await add(toDamagedRun(stored, reason, lost));
}

/** The records that seem to be its indexes do not belong to it. */
function endingAt(stored: StoredChunk, end: number): StoredChunk {
  return { ...stored, head: { ...stored.head, end }, end, indexes: new Uint8Array(0) };
}

/** Finds a chunk, or another file, that a record covers because bytes of it are missing. Answers undefined if the end of the record is true. */
async function findInside(
  { verifying, resync }: Recovery,
  { from, to }: { from: number; to: number },
): Promise<Resumed | undefined> {
  if (await isBoundary(to, verifying.context)) return undefined;
  return resync.find(from, { to, looseFrom: to });
}

/** Goes on behind a record whose frame makes sense, or at the next chunk. Messages behind a second definition may not be of the first. */
async function passUnclear(recovery: Recovery, offset: number, error: RecordingError): Promise<Next> {
  const { verifying, footerOffset } = recovery;
  const { reason } = error;
  const isChunk = error instanceof DefinedTwiceError;
  const end = isChunk ? undefined : await endOfFramed(offset, verifying.context);
  if (end === undefined || end >= footerOffset) {
    const from = Math.min(await searchStart(recovery), offset + 1);
    return search(recovery, { offset, from: isChunk ? offset + 1 : from, looseFrom: offset + 1, reason, isChunk });
  }
  verifying.damage.addGap({ offset, end, reason });
  return { offset: end };
}

/** Where a chunk may begin that the record before covers. */
async function searchStart({ visitor, resync }: Recovery): Promise<number> {
  const { unproven, searchFrom } = visitor;
  return unproven ? resync.lastRecordOf(unproven, searchFrom) : searchFrom;
}

function endAt(recovery: Recovery, offset: number): Next {
  if (!recovery.verifying.isSalvage) throw joinedAt(offset);
  recovery.fileEnd = offset;
  return { offset: recovery.footerOffset };
}

/** A footer that does not end the file ends one of several that were joined, or what stands behind it is nothing that was recorded. */
async function passFooter(recovery: Recovery, footer: RecordHead): Promise<Next> {
  const { verifying, footerOffset } = recovery;
  const behind = footer.end + magic.byteLength;
  if (await isFileStart(behind, verifying)) return endAt(recovery, behind);
  if (behind >= verifying.context.source.sizeBytes) return { offset: footerOffset };
  const gap = { offset: footer.end, reason: bytesBehind(footer.offset) };
  if (verifying.isSalvage) return search(recovery, { ...gap, from: footer.end });
  verifying.damage.addGap({ ...gap, end: footerOffset });
  return { offset: footerOffset };
}

/** Takes the beginning of a chunk, and goes on where its record ends, or looks for what stands behind it. */
async function passBegun(recovery: Recovery, begun: BegunChunk, reason: Reason): Promise<Next> {
  const { chunk, end, lastStart } = begun.beginning;
  const { offset } = chunk;
  const { visitor, verifying, footerOffset, resync } = recovery;
  const framed = await endOfFramed(offset, verifying.context);
  const recordEnd = framed !== undefined && framed >= end && framed < footerOffset ? framed : undefined;
  const next = begun.isConfirmed ? undefined : await findInside(recovery, { from: lastStart, to: recordEnd ?? end });
  const taken = next ? (await resync.shorten(chunk, next.offset))?.beginning : begun.beginning;
  const isTaken = taken !== undefined && (await visitor.addBegun(taken));
  if (next) return passCut(recovery, { next, reason, chunk, begun: isTaken ? taken : undefined });
  if (!isTaken) return search(recovery, { offset, from: offset + 1, reason });
  if (recordEnd === undefined) return search(recovery, { offset: end, from: end, reason, begun: taken });
  if (begun.isConfirmed) verifying.damage.addSummary(offset, reason);
  else verifying.damage.addGap({ offset: end, end: recordEnd, reason, begun: taken });
  await resync.define(chunk, recordEnd);
  return { offset: recordEnd };
}

interface CutChunk {
  readonly chunk: McapChunk;
  /** The part that was taken of it. */
  readonly begun: Beginning<McapChunk> | undefined;
  /** The records in it. */
  readonly next: Resumed;
  readonly reason: Reason;
}

async function passCut(recovery: Recovery, { chunk, begun, next, reason }: CutChunk): Promise<Next> {
  recovery.verifying.damage.addGap({ offset: begun?.end ?? chunk.offset, end: next.offset, reason, begun });
  await recovery.resync.define(chunk, next.offset);
  return follow(recovery, next, reason);
}

interface Gap {
  readonly offset: number;
  readonly from: number;
  readonly reason: Reason;
  readonly begun?: Beginning<McapChunk>;
  /** No records are looked for that stand outside of chunks. */
  readonly isChunk?: boolean;
  /** Before this place no records are looked for that stand outside of chunks. */
  readonly looseFrom?: number;
}

async function search(recovery: Recovery, { from, isChunk = false, looseFrom = from, ...gap }: Gap): Promise<Next> {
  const { resync, footerOffset, verifying } = recovery;
  const found = await resync.find(from, { looseFrom: isChunk ? Number.POSITIVE_INFINITY : looseFrom });
  const end = found?.offset ?? footerOffset;
  verifying.damage.addGap({ ...gap, offset: Math.min(gap.offset, end), end });
  await resync.define(gap.begun?.chunk ?? { compression: "", dataOffset: gap.offset }, end);
  return found ? follow(recovery, found, gap.reason) : { offset: footerOffset };
}

async function follow(recovery: Recovery, found: Resumed, reason: Reason): Promise<Next> {
  if (found.kind === "file") return endAt(recovery, found.offset);
  if (found.kind === "loose") recovery.visitor.expectLeft();
  if (found.kind === "loose") return { offset: found.offset };
  if (found.kind === "begun") return passBegun(recovery, found, reason);
  return { offset: found.offset, head: found.head };
}

/** A summary that was overwritten may have a million places that make no sense. */
const MOST_SUMMARY_FAULTS = 10_000;

/**
 * Answers where a record ends whose type makes no sense, by its length alone. Looking for the next chunk would find copies that do not
 * count.
 */
async function framedEnd({ reader, context }: Verifying, offset: number): Promise<number> {
  if (offset + RECORD_HEAD_BYTES > context.source.sizeBytes) return Number.POSITIVE_INFINITY;
  const bytes = asBuffer(await reader.fetch(offset, RECORD_HEAD_BYTES));
  return offset + RECORD_HEAD_BYTES + Number(bytes.readBigUInt64LE(1));
}
