import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { MessageRun, SurveyOptions } from "../message-run.ts";
import type { ReadContext } from "../read-context.ts";
import { RecordingFault } from "../reasons.ts";
import { streamRange } from "../stream-range.ts";
import type { AttachmentSummary } from "../summary.ts";
import { addAttachment, addChannel, addMetadata, addSchema, addTally, extendSpan, type Survey } from "../survey.ts";
import { requireChannel, tallyChunk } from "../tally-chunk.ts";
import { visitRecords } from "./chunk-records.ts";
import { recordHeadBytes } from "./opcodes.ts";
import { readChannel, readSchema } from "./records.ts";
import { type McapItem, walkMcap } from "./walk-mcap.ts";

/**
 * Skims a file from its start: counts and times from the message indexes behind each chunk; a chunk is decompressed only
 * when it has none, or when they name a channel that was not seen yet. Fills `survey` up to a fault.
 */
export async function surveyMcap(survey: Survey, context: ReadContext, options: SurveyOptions = {}): Promise<void> {
  const loose = gatherLooseMessages(survey, options.onRun);
  const walk = walkMcap(context, (item) => {
    if (item.kind === "chunk") loose.end();
    if (item.kind === "chunk" || item.kind === "attachment" || item.kind === "dataEnd") {
      return addCheckedItem(survey, item, { context, options });
    }
    if (item.kind === "message") loose.add(item);
    else addItem(survey, item, context);
    survey.readableBytes = item.end;
    return undefined;
  });
  await walk.finally(loose.end); // those before a fault are readable
}

interface Surveying {
  context: ReadContext;
  options: SurveyOptions;
}

function addItem(survey: Survey, item: McapItem, { limits }: ReadContext): void {
  if (item.kind === "header") Object.assign(survey, { profile: item.profile, library: item.library });
  if (item.kind === "schema") addSchema(survey, item.schema, limits);
  if (item.kind === "channel") addChannel(survey, item.channel, limits);
  if (item.kind === "metadata") addMetadata(survey, item.metadata, limits);
}

/** What may need more reading. */
async function addCheckedItem(
  survey: Survey,
  item: McapItem & { kind: "chunk" | "attachment" | "dataEnd" },
  { context, options }: Surveying,
): Promise<void> {
  if (item.kind === "attachment") {
    addAttachment(survey, item.attachment, context.limits);
    if (options.verify) await readAttachmentData(item.attachment, item.offset, context);
  }
  if (item.kind === "dataEnd" && options.verify) await verifyDataSection(survey, item, context);
  if (item.kind === "chunk") {
    const { chunk, indexed } = item;
    const scan = scanInto(survey, context);
    await tallyChunk(survey, { chunk, indexed, span: chunk, scan }, { context, options });
  }
  survey.readableBytes = item.end;
}

function scanInto(survey: Survey, { limits }: ReadContext) {
  return (bytes: Uint8Array, place: string, onMessage: (channelId: number, logTimeNs: bigint) => void) => {
    visitRecords(bytes, place, {
      schema: (cursor) => addSchema(survey, readSchema(cursor), limits),
      channel: (cursor) => addChannel(survey, readChannel(cursor), limits),
      tally: onMessage,
    });
  };
}

/** Chunks have checksums of their own; the one of the section matters where they do not cover every message. */
async function verifyDataSection(
  survey: Survey,
  item: McapItem & { kind: "dataEnd" },
  context: ReadContext,
): Promise<void> {
  if (item.crc === 0 || !survey.hasUncheckedMessages) return;
  let crc = 0;
  for await (const piece of streamRange(context, 0, item.offset)) crc = crc32(piece, crc);
  if (crc === item.crc) return;
  throw new RecordingFault(
    "BadRecord",
    "the messages fail the checksum of the data section; the file is damaged somewhere before it",
  );
}

/** spec: MCAP "Attachment": the CRC covers everything from the log time to the end of the data. */
async function readAttachmentData(attachment: AttachmentSummary, offset: number, context: ReadContext): Promise<void> {
  const start = offset + recordHeadBytes;
  const end = attachment.dataOffset + attachment.sizeBytes;
  const hash = createHash("sha256");
  let crc = 0;
  let at = start;
  for await (const piece of streamRange(context, start, end - start)) {
    crc = crc32(piece, crc);
    hash.update(piece.subarray(Math.max(0, attachment.dataOffset - at)));
    at += piece.byteLength;
  }
  attachment.dataSha256 = hash.digest("hex");
  if (attachment.crc === 0 || crc === attachment.crc) return;
  const text = `the attachment "${attachment.name}" at byte ${offset} fails its checksum; the file is damaged there`;
  throw new RecordingFault("BadRecord", text);
}

/** Messages outside chunks are counted, and gathered to runs of a few megabytes, which can then be loaded like chunks. */
function gatherLooseMessages(survey: Survey, onRun: SurveyOptions["onRun"]) {
  let run: MessageRun | undefined;
  const channelIds = new Set<number>();

  const end = (): void => {
    if (run) onRun?.(run, channelIds, survey);
    run = undefined;
    channelIds.clear();
  };
  const add = (message: McapItem & { kind: "message" }): void => {
    const { channelId, logTimeNs, offset } = message;
    requireChannel(survey, channelId, () => `the message at byte ${offset}`);
    addTally(survey, channelId, { messageCount: 1, startNs: logTimeNs, endNs: logTimeNs });
    survey.hasUncheckedMessages = true;
    if (!onRun) return;
    if (run && message.end - run.offset > looseRunBytes) end();
    run ??= { offset, lengthBytes: 0, startNs: logTimeNs, endNs: logTimeNs };
    run.lengthBytes = message.end - run.offset;
    channelIds.add(channelId);
    extendSpan(run, logTimeNs, logTimeNs);
  };
  return { add, end };
}

const looseRunBytes = 4 * 1024 * 1024;
