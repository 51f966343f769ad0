// A recording is read once, in the order of an export, and its messages go by topic into blocks of one temporary file; then the file of each
// topic is written from its blocks, one after the other. So memory and open files do not grow with the number of topics, and no part of the
// recording is read twice, which exporting one topic after another would do.

import type { Compression } from "../codecs/compress.ts";
import { profileOf } from "../export/export-mcap.ts";
import type { ExportSession } from "../export/export-session.ts";
import { ExportError, type ExportSource } from "../export/plan/export-options.ts";
import type { MetadataRecord } from "../survey/summary.ts";
import type { DigestedTopic } from "./digest-topic.ts";
import { openWhole, type ReadingOptions, readInOrder } from "./read-in-order.ts";
import { sortByTopic } from "./sort-by-topic.ts";
import { SpillFile } from "./spill-file.ts";
import { writeTopic } from "./write-topic.ts";

export interface SplitOptions extends ReadingOptions {
  /** Where the temporary file is made, which takes as much room as the messages compressed by LZ4. Its folder must exist. */
  readonly spillPath: string;
  /** By default LZ4. */
  readonly compression?: Compression;
}

/** The file of one topic, and what is in it. */
export interface TopicFile extends DigestedTopic {
  /** Writes the file, piece by piece. The same bytes come each time. */
  open(): AsyncGenerator<Uint8Array>;
}

/** A recording that was read, and can be written by topic until it is disposed of. */
export interface SplitRecording extends AsyncDisposable {
  /** In the order in which they appear. */
  readonly topics: readonly TopicFile[];
}

/** Each file repeats the recording's metadata, so that an export of it has them, too. More than this is refused. */
const MOST_METADATA_BYTES = 64 * 1024;

/**
 * Splits a finished recording into one indexed MCAP file for each topic with messages, in bounded memory. The digest that `digestTopics`
 * gives of such a file is the one given here of its topic. Attachments stay with the recording. Throws as `exportMcap` does, and
 * `TooMuchMetadata`; a recording of which something is damaged is split without that.
 */
export async function splitRecording(
  source: ExportSource,
  { spillPath, compression = "lz4", ...options }: SplitOptions,
): Promise<SplitRecording> {
  await using opened = new AsyncDisposableStack();
  const file = opened.use(await SpillFile.create(spillPath));
  const session = opened.use(openWhole(source, options));
  const about: About = { profile: "", metadata: [] };
  const topics = await sortByTopic(describing(session, about), session, file);
  const { ids, loading } = session;
  const writing = { file, ids, lane: loading.lane, compression, ...about };
  const closing = opened.move();
  return {
    topics: topics.map(({ digest, blocks }) => ({ ...digest.end(ids), open: () => writeTopic(blocks, writing) })),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

interface About {
  profile: string;
  metadata: readonly MetadataRecord[];
}

async function* describing(session: ExportSession, about: About): ReturnType<typeof readInOrder> {
  for await (const output of readInOrder(session)) {
    if (output.kind === "opened") {
      about.profile = profileOf(output);
      about.metadata = output.source.survey.metadata;
      requireLittle(about.metadata);
    }
    yield output;
  }
}

function requireLittle(metadata: readonly MetadataRecord[]): void {
  if (Buffer.byteLength(JSON.stringify(metadata)) <= MOST_METADATA_BYTES) return;
  throw new ExportError(
    "TooMuchMetadata",
    "the recording has too many metadata to repeat them in the file of each topic",
  );
}
