import { crc32 } from "node:zlib";
import { RecordingError } from "../faults/reasons.ts";
import { requireKnownChannels } from "../verified/require-known-channels.ts";
import type { Verifying } from "../verified/verifying.ts";
import { describeFooter, readMcapEnd } from "./mcap-end.ts";
import { FOOTER_BYTES, magic, RECORD_HEAD_BYTES } from "./opcodes.ts";
import { parseRecordHead, type RecordHead } from "./record-head.ts";
import { RecordVisitor } from "./record-visitor.ts";
import { goOn, type Recovery } from "./recover-mcap.ts";
import { createResync } from "./resync-mcap.ts";

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
  if (verifying.isSalvage) await resync.prepare();
  const recovery: Recovery = {
    verifying,
    visitor,
    resync,
    footerOffset: end.footerOffset,
    summaryFaults: 0,
    hasNothingMoved: false,
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
    damage.addSummary(footerOffset, { code: "BadFooter", text: describeFooter(footerOffset) });
    return { footerOffset, summaryStart: undefined, summaryCrc: 0 };
  } catch (error) {
    if (!isSalvage || !(error instanceof RecordingError)) throw error;
    return { footerOffset: source.sizeBytes, summaryStart: undefined, summaryCrc: 0 };
  }
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
