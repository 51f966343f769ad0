import { crc32 } from "node:zlib";
import { DefinedTwiceError, type Reason, RecordingError } from "../faults/reasons.ts";
import { asBuffer } from "../memory/as-buffer.ts";
import type { Beginning } from "../reading/begun-chunk.ts";
import { requireKnownChannels } from "../verified/require-known-channels.ts";
import type { Verifying } from "../verified/verifying.ts";
import type { BegunChunk } from "./judge-chunk.ts";
import { bytesBehind, isFileStart, joinedAt, readMcapEnd } from "./mcap-end.ts";
import { FOOTER_BYTES, magic, opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";
import { endOfFramed, parseRecordHead, type RecordHead } from "./record-head.ts";
import { RecordVisitor } from "./record-visitor.ts";
import { createResync, type Resync } from "./resync-mcap.ts";

/**
 * Reads every byte of a file once and in order, believes nothing that the file says of itself, and adds each run of messages. Throws the
 * reason if the file cannot be given whole. A salvage never throws it, but goes on where something makes sense again. Answers where the file
 * ends: at the latest where another one begins.
 */
export async function verifyMcap(verifying: Verifying): Promise<number> {
  const { reader, context, survey } = verifying;
  const end = await endOf(verifying);
  const visitor = new RecordVisitor(verifying, end.footerOffset);
  const resync = createResync({ context, reader, survey });
  const recovery: Recovery = {
    verifying,
    visitor,
    resync,
    footerOffset: end.footerOffset,
    summaryFaults: 0,
    fileEnd: context.source.sizeBytes,
  };
  let offset: number = magic.byteLength;
  let judged: RecordHead | undefined;
  while (offset < end.footerOffset) {
    let head = judged;
    try {
      const bytes = reader.peek(offset, RECORD_HEAD_BYTES) ?? (await reader.fetch(offset, RECORD_HEAD_BYTES));
      head ??= parseRecordHead(bytes, offset, context.source.sizeBytes);
      const visited = visitor.visit(head);
      offset = typeof visited === "number" ? visited : await visited;
      judged = undefined;
    } catch (error) {
      ({ offset, head: judged } = await goOn(recovery, { error, offset, head, wasJudged: judged !== undefined }));
    }
  }
  await visitor.endMessages();
  requireKnownChannels(verifying);
  if (!verifying.isSalvage) visitor.compareSummary();
  if (end.summaryStart !== undefined) await checkSummary(verifying, { ...end, summaryStart: end.summaryStart });
  return recovery.fileEnd;
}

/** Where to go on. `head` is that of a chunk whose own record does not say where it ends. */
interface Next {
  readonly offset: number;
  readonly head?: RecordHead;
}

interface End {
  readonly footerOffset: number;
  /** Undefined if there is no summary, or if the footer is damaged. */
  readonly summaryStart: number | undefined;
  readonly summaryCrc: number;
}

/** Reads the footer, which says where the records end. A salvage needs none. */
async function endOf({ context, isSalvage, damage }: Verifying): Promise<End> {
  const { source } = context;
  try {
    const { footerOffset, summaryStart, summaryCrc, isSound } = await readMcapEnd(
      source,
      FOOTER_BYTES + magic.byteLength,
    );
    if (isSound) return { footerOffset, summaryStart: summaryStart || undefined, summaryCrc };
    damage.addSummary(footerOffset, badFooter(footerOffset));
    return { footerOffset, summaryStart: undefined, summaryCrc: 0 };
  } catch (error) {
    if (!isSalvage || !(error instanceof RecordingError)) throw error;
    return { footerOffset: source.sizeBytes, summaryStart: undefined, summaryCrc: 0 };
  }
}

function badFooter(offset: number): Reason {
  return { code: "BadFooter", text: `the footer at byte ${offset} names a summary that cannot be there` };
}

/** What is needed to go on behind a place that makes no sense. */
interface Recovery {
  readonly verifying: Verifying;
  readonly visitor: RecordVisitor;
  readonly resync: Resync;
  readonly footerOffset: number;
  /** How often the summary made no sense. */
  summaryFaults: number;
  /** Where the file ends. */
  fileEnd: number;
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
async function goOn(recovery: Recovery, { error, offset, head, wasJudged }: Stop): Promise<Next> {
  if (!(error instanceof RecordingError)) throw error;
  const { verifying, visitor, footerOffset, resync } = recovery;
  const { damage, isSalvage, survey } = verifying;
  const { reason } = error;
  if (await isFileStart(offset, verifying)) return endAt(recovery, offset);
  if (offset < verifying.coveredEnd && verifying.coveredEnd < footerOffset)
    return passCovered(recovery, offset, reason);
  if (visitor.isInSummary && head?.opcode === opcodes.footer) return passFooter(recovery, head);
  if (visitor.isInSummary && survey.tallies.size > 0) {
    damage.addSummary(offset, reason);
    const end = head?.end ?? (await framedEnd(verifying, offset));
    recovery.summaryFaults += 1;
    return { offset: recovery.summaryFaults < MOST_SUMMARY_FAULTS ? Math.min(end, footerOffset) : footerOffset };
  }
  if (!isSalvage) throw error;
  await visitor.endMessages();
  const judged = wasJudged ? undefined : await resync.judge(offset);
  if (judged?.kind === "chunk") {
    damage.addSummary(offset, reason);
    return { offset, head: judged.head };
  }
  if (judged?.kind === "begun") return passBegun(recovery, judged, reason);
  return passUnclear(recovery, offset, error);
}

/** What a record covers makes no sense any more: it goes on where that record ends by its own length. */
async function passCovered({ verifying, visitor }: Recovery, offset: number, reason: Reason): Promise<Next> {
  const { coveredEnd: end, damage } = verifying;
  verifying.coveredEnd = Number.POSITIVE_INFINITY;
  await visitor.endMessages();
  damage.addGap({ offset, end, reason });
  return { offset: end };
}

/** Goes on behind a record whose frame makes sense, or at the next chunk. What comes behind a second definition may not be of the first. */
async function passUnclear(recovery: Recovery, offset: number, error: RecordingError): Promise<Next> {
  const { verifying, footerOffset } = recovery;
  const { reason } = error;
  const isChunk = error instanceof DefinedTwiceError;
  const end = isChunk ? undefined : await endOfFramed(offset, verifying.context);
  if (end === undefined || end >= footerOffset) return search(recovery, { offset, from: offset + 1, reason, isChunk });
  verifying.damage.addGap({ offset, end, reason });
  return { offset: end };
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
async function passBegun(recovery: Recovery, { beginning, isConfirmed }: BegunChunk, reason: Reason): Promise<Next> {
  const { offset } = beginning.chunk;
  const { visitor, verifying, footerOffset } = recovery;
  if (!(await visitor.addBegun(beginning))) return search(recovery, { offset, from: offset + 1, reason });
  const end = await endOfFramed(offset, verifying.context);
  if (end !== undefined && end >= beginning.end && end < footerOffset) {
    if (isConfirmed) verifying.damage.addSummary(offset, reason);
    else verifying.damage.addGap({ offset: beginning.end, end, reason, begun: beginning });
    return { offset: end };
  }
  return search(recovery, { offset: beginning.end, from: beginning.end, reason, begun: beginning });
}

interface Gap {
  readonly offset: number;
  readonly from: number;
  readonly reason: Reason;
  readonly begun?: Beginning;
  /** Only chunks are looked for. */
  readonly isChunk?: boolean;
}

async function search(recovery: Recovery, { from, isChunk = false, ...gap }: Gap): Promise<Next> {
  const { resync, footerOffset, verifying } = recovery;
  const found = await resync.find(from, { isChunk });
  verifying.damage.addGap({ ...gap, end: found?.offset ?? footerOffset });
  if (found === undefined) return { offset: footerOffset };
  if (found.kind === "file") return endAt(recovery, found.offset);
  if (found.kind === "loose") return { offset: found.offset };
  if (found.kind === "begun") return passBegun(recovery, found, gap.reason);
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

/** spec: MCAP "Footer": the CRC covers the section and the footer up to the CRC itself. */
async function checkSummary(
  { context, damage }: Verifying,
  { summaryStart, footerOffset, summaryCrc }: End & { summaryStart: number },
): Promise<void> {
  if (summaryCrc === 0) return;
  const end = footerOffset + RECORD_HEAD_BYTES + 16;
  let crc = 0;
  for (let at = summaryStart; at < end; at += PIECE_BYTES) {
    crc = crc32(await context.source.read(at, Math.min(PIECE_BYTES, end - at)), crc);
  }
  if (crc === summaryCrc) return;
  const text = `the summary at byte ${summaryStart} fails its checksum; the recording was read without it`;
  damage.addSummary(summaryStart, { code: "BadSummary", text });
}

const PIECE_BYTES = 1024 * 1024;
