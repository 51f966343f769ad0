import { RecordingError } from "../faults/reasons.ts";
import { type ChunkHeader, placeOf } from "../reading/chunk.ts";
import { MAX_TIME_NS, openCursor } from "../reading/field-cursor.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { type ChunkToTally, requireChannel, tallyChunk } from "../reading/tally-chunk.ts";
import {
  addAttachment,
  addChannel,
  addMetadata,
  addSchema,
  addTally,
  leaveOutChannel,
  type Survey,
  type Tally,
} from "../survey/survey.ts";
import { opcodes } from "./opcodes.ts";
import { readChannel, readSchema } from "./records.ts";
import { RecordTally, tallyOf } from "./tally-messages.ts";
import { type LeftOutRecord, type McapItem, walkMcap } from "./walk-mcap.ts";

/**
 * Skims a file from its start: counts and times come from the message indexes behind each chunk. A chunk is decompressed only if it has
 * none, or if they name a channel that was not seen yet. Fills `survey` until something throws.
 */
export async function surveyMcap(survey: Survey, context: ReadContext): Promise<void> {
  await walkMcap(context, createItemVisitor(survey, context));
}

/** Adds the items of a file to its survey. */
function createItemVisitor(survey: Survey, context: ReadContext) {
  const scan = createChunkScan(survey, context);
  let isBehindData = false;
  return (item: McapItem): Promise<void> | undefined => {
    const isData = item.kind === "message" || item.kind === "chunk";
    isBehindData = !isData && (isBehindData || item.kind === "dataEnd");
    if (item.kind === "chunk") return addChunk(survey, item, { context, scan });
    if (isBehindData) addRepeated(survey, item, context);
    else addItem(survey, item, context);
    survey.readableBytes = item.end;
    return undefined;
  };
}

/** Adds what the summary repeats. That may be a part of what there is, such as channels without their schemas. */
function addRepeated(survey: Survey, item: McapItem, context: ReadContext): void {
  try {
    addItem(survey, item, context);
  } catch (error) {
    const isRepeat = item.kind === "schema" || item.kind === "channel";
    if (!isRepeat || !(error instanceof RecordingError) || error.reason.code !== "BadRecord") throw error;
  }
}

function addItem(survey: Survey, item: McapItem, { limits }: ReadContext): void {
  if (item.kind === "header") Object.assign(survey, { profile: item.profile, library: item.library });
  if (item.kind === "schema") addSchema(survey, item.schema, limits);
  if (item.kind === "channel") addChannel(survey, item.channel, limits);
  if (item.kind === "metadata") addMetadata(survey, item.metadata, limits);
  if (item.kind === "attachment") addAttachment(survey, item.attachment, limits);
  if (item.kind === "leftOut") leaveOut(survey, item);
  if (item.kind !== "message") return;
  const { channelId, logTimeNs, offset } = item;
  requireChannel(survey, channelId, () => `the message at byte ${offset}`);
  addTally(survey, channelId, tallyOfOne(logTimeNs));
}

/** A time that no recorder can have written counts for no span. */
function tallyOfOne(logTimeNs: bigint): Tally {
  return logTimeNs > MAX_TIME_NS ? { messageCount: 1 } : { messageCount: 1, startNs: logTimeNs, endNs: logTimeNs };
}

export function leaveOut(survey: Survey, { opcode, id }: LeftOutRecord): void {
  if (opcode === opcodes.schema && !survey.schemas.has(id)) survey.leftOut.schemas.add(id);
  if (opcode === opcodes.channel) leaveOutChannel(survey, id);
  if (opcode === opcodes.metadata) survey.leftOut.metadata += 1;
  if (opcode === opcodes.attachment) survey.leftOut.attachments += 1;
}

interface ChunkReading {
  readonly context: ReadContext;
  readonly scan: ChunkToTally["scan"];
}

/** Adds a chunk, which may need more reading. */
async function addChunk(
  survey: Survey,
  item: McapItem & { kind: "chunk" },
  { context, scan }: ChunkReading,
): Promise<void> {
  const { chunk, indexed } = item;
  await tallyChunk(survey, { chunk, indexed, span: chunk, scan }, context);
  survey.readableBytes = item.end;
}

function createChunkScan(survey: Survey, { limits }: ReadContext) {
  let place = "";
  const define = (opcode: number, content: Uint8Array, at: number): boolean => {
    const cursor = openCursor(content, () => `${place}, at its byte ${at},`, "BadChunk");
    if (opcode === opcodes.schema) addSchema(survey, readSchema(cursor), limits);
    else if (content.byteLength > limits.maxMapBytes && limits.leavesOut)
      leaveOut(survey, { opcode, id: cursor.view.getUint16(0, true) });
    else addChannel(survey, readChannel(cursor), limits);
    return true;
  };
  const records = new RecordTally(define, limits.maxRecordBytes);
  return async (pieces: AsyncIterable<Uint8Array>, chunk: ChunkHeader): Promise<ReadonlyMap<number, Tally>> => {
    place = placeOf(chunk);
    records.begin(place, undefined);
    for await (const piece of pieces) records.push(piece);
    const { channels, parts } = records.end();
    return new Map(channels.map((channel) => [channel.channelId, tallyOf(channel, parts)]));
  };
}
