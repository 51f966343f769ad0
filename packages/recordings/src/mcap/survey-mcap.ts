import type { ReadContext } from "../read-context.ts";
import { RecordingFault } from "../reasons.ts";
import { addAttachment, addChannel, addMetadata, addSchema, addTally, type Survey } from "../survey.ts";
import { requireChannel, tallyChunk } from "../tally-chunk.ts";
import { visitRecords } from "./chunk-records.ts";
import { readChannel, readSchema } from "./records.ts";
import { type McapItem, walkMcap } from "./walk-mcap.ts";

/**
 * Skims a file from its start: counts and times from the message indexes behind each chunk; a chunk is decompressed only
 * when it has none, or when they name a channel that was not seen yet. Fills `survey` up to a fault.
 */
export async function surveyMcap(survey: Survey, context: ReadContext): Promise<void> {
  let isBehindData = false;
  await walkMcap(context, (item) => {
    const isData = item.kind === "message" || item.kind === "chunk";
    isBehindData = !isData && (isBehindData || item.kind === "dataEnd");
    if (item.kind === "chunk") return addChunk(survey, item, context);
    if (isBehindData) addRepeated(survey, item, context);
    else addItem(survey, item, context);
    survey.readableBytes = item.end;
    return undefined;
  });
}

/** What the summary repeats may be a part of what there is, such as channels without their schemas. */
function addRepeated(survey: Survey, item: McapItem, context: ReadContext): void {
  try {
    addItem(survey, item, context);
  } catch (error) {
    const isRepeat = item.kind === "schema" || item.kind === "channel";
    if (!isRepeat || !(error instanceof RecordingFault) || error.reason.code !== "BadRecord") throw error;
  }
}

function addItem(survey: Survey, item: McapItem, { limits }: ReadContext): void {
  if (item.kind === "header") Object.assign(survey, { profile: item.profile, library: item.library });
  if (item.kind === "schema") addSchema(survey, item.schema, limits);
  if (item.kind === "channel") addChannel(survey, item.channel, limits);
  if (item.kind === "metadata") addMetadata(survey, item.metadata, limits);
  if (item.kind === "attachment") addAttachment(survey, item.attachment, limits);
  if (item.kind !== "message") return;
  const { channelId, logTimeNs, offset } = item;
  requireChannel(survey, channelId, () => `the message at byte ${offset}`);
  addTally(survey, channelId, { messageCount: 1, startNs: logTimeNs, endNs: logTimeNs });
}

/** What may need more reading. */
async function addChunk(survey: Survey, item: McapItem & { kind: "chunk" }, context: ReadContext): Promise<void> {
  const { chunk, indexed } = item;
  await tallyChunk(survey, { chunk, indexed, span: chunk, scan: scanInto(survey, context) }, context);
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
