import type { Compression } from "../codecs/compress.ts";
import { createReadContext, type ReadContext } from "../read-context.ts";
import type { RandomAccessSource } from "../source.ts";
import { copyAttachment } from "./copy-attachment.ts";
import { McapWriter } from "./mcap-writer.ts";
import { mergeRuns } from "./merge-runs.ts";
import { type ExportPlan, type ExportSelection, planExport } from "./plan-export.ts";

export interface ExportOptions {
  compression: Compression;
  includeAttachments?: boolean;
  signal?: AbortSignal;
}

/**
 * The selected messages of a finished recording as an indexed MCAP file, piece by piece, in order of log time.
 * Throws `RecordingFault` when the source is damaged: what was yielded until then is not a whole file.
 */
export async function* exportMcap(
  source: RandomAccessSource,
  options: ExportSelection & ExportOptions & { fileName: string },
): AsyncGenerator<Uint8Array> {
  const context = createReadContext(source, { signal: options.signal });
  const plan = await planExport(context, options);
  const writer = new McapWriter(options.compression);
  const { survey, format } = plan;
  yield writer.start(survey.profile ?? (format.name === "bag1" ? "ros1" : ""));
  for (const record of survey.metadata) yield writer.addMetadata(record);
  if (options.includeAttachments) {
    for (const attachment of survey.attachments) yield* copyAttachment(attachment, writer, context);
  }
  yield* writeMessages(plan, writer, context);
  yield* writer.end();
}

async function* writeMessages(plan: ExportPlan, writer: McapWriter, context: ReadContext): AsyncGenerator<Uint8Array> {
  const { channels, schemas } = plan.survey;
  for await (const batch of mergeRuns(plan, context)) {
    for (const message of batch) {
      const channel = channels.get(message.channelId)!;
      const entry = { message, channel, schema: schemas.get(channel.schemaId) };
      if (!writer.hasRoom(entry)) yield* await writer.flushChunk();
      writer.addMessage(entry);
    }
  }
  if (writer.hasOpenChunk()) yield* await writer.flushChunk();
}
