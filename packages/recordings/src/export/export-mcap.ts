import { createHash } from "node:crypto";
import { formats } from "../formats/formats.ts";
import type { MetadataRecord } from "../survey/summary.ts";
import type { Finish, Output } from "./assemble.ts";
import { type ExportSession, openSession } from "./export-session.ts";
import { hugeMessage } from "./load/large-pieces.ts";
import { orderOutput } from "./order-output.ts";
import type { ExportSource, McapExportOptions } from "./plan/export-options.ts";
import type { OpenSource } from "./plan/planned-source.ts";
import { copyAttachment } from "./write-mcap/copy-attachment.ts";
import { McapWriter } from "./write-mcap/mcap-writer.ts";

/**
 * Writes the selected messages of finished recordings as one indexed MCAP file, piece by piece, in order of log time. Messages of equal
 * times are in the order of the sources, then of the file. spec: wire contract §5
 *
 * A piece of 64 KiB or more has memory of its own, which is the consumer's: a consumer that is done with it may give it back at once by
 * `piece.buffer.transfer(0)`, which saves waiting for a garbage collection.
 *
 * Throws what reading throws, `SourceChangedError` if a source is not what it was when it was verified, `RecordingError` if one is no
 * finished recording, and `ExportError` if they cannot be exported together: what was yielded until then is not a whole file. A
 * part that was found damaged when a source was verified is left out and reported.
 */
export async function* exportMcap(
  sources: readonly ExportSource[],
  options: McapExportOptions,
): AsyncGenerator<Uint8Array> {
  await using session = openSession(sources, options);
  const writer = new McapWriter(session.ids, options.compression);
  const describe = createDescriber(writer, session);
  let isBegun = false;
  for await (const output of orderOutput(session, { finish: sealing(session), mergesAll: false })) {
    if (!isBegun) yield writer.start(profileOf(output));
    isBegun = true;
    if (output.kind === "chunks") yield* writer.addChunks(output);
    if (output.kind === "opened") yield* describe(output.source);
  }
  if (!isBegun) yield writer.start("");
  const skipped = session.damage.toMetadata();
  if (skipped) yield writer.addMetadata(skipped);
  for (const record of options.metadata ?? []) yield writer.addMetadata(record);
  yield* writer.end();
}

function sealing({ loading }: ExportSession): Finish {
  const { lane, compression } = loading;
  return {
    messages: (fragment) => ({
      weightBytes: 2 * fragment.records.byteLength,
      async run() {
        const { bytes, checksum, ...facts } = await lane.run({ kind: "seal", fragment, compression });
        return { kind: "chunks", bytes, checksum, chunks: [facts] };
      },
    }),
    huge: (run, at) => hugeMessage(run, at, loading),
  };
}

/** The first of several recordings decides, because recordings that belong together agree. */
export function profileOf(first: Output): string {
  if (first.kind !== "opened") return "";
  const { survey, formatName } = first.source;
  return survey.profile ?? formats[formatName].profile;
}

/** Writes metadata and attachments. A metadata record that several recordings share is written once. */
function createDescriber(writer: McapWriter, { options }: ExportSession) {
  const written = new Set<string>();
  const isNew = (record: MetadataRecord): boolean => {
    const hash = createHash("sha256").update(JSON.stringify(record)).digest("base64");
    const isKnown = written.has(hash);
    written.add(hash);
    return !isKnown;
  };
  return async function* describe(source: OpenSource): AsyncGenerator<Uint8Array> {
    const { survey, context } = source;
    for (const record of survey.metadata) if (isNew(record)) yield writer.addMetadata(record);
    const attachments = options.includeAttachments ? survey.attachments : [];
    for (const attachment of attachments) yield* copyAttachment(attachment, writer, context);
    await source.release();
  };
}
