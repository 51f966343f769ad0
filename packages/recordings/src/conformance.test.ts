import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { inspectRecording } from "./inspect/inspect.ts";
import { bytesSource } from "./sources/source.ts";
import type { RecordingSummary } from "./survey/summary.ts";
import { exportBytes } from "./testing/export-bytes.ts";
import { readMessages } from "./testing/read-messages.ts";
import { conformanceFolder, listSharedFiles, skipWithout } from "./testing/shared-data.ts";
import { firstCases, slowTest } from "./testing/slow-test.ts";

const skip = skipWithout(conformanceFolder);

test("every conformance file is summarized as its description says, by index or skim and by full scan", {
  skip,
}, async () => {
  const paths = listSharedFiles(conformanceFolder, ".mcap");
  assert.equal(paths.length, 416);
  const inSteps = paths.map((_, index) => paths[(5 * index) % paths.length]!);
  for (const path of firstCases(84, inSteps)) {
    const expected = expectationOf(JSON.parse(await readFile(path.replace(/mcap$/, "json"), "utf8")));
    for (const verifyChunks of [false, true]) {
      const inspection = await inspectRecording(bytesSource(await readFile(path)), { fileName: path, verifyChunks });
      assert.ok(inspection.state === "finished" || inspection.state === "empty", `${path}: ${inspection.state}`);
      assert.equal(inspection.state, expected.messageCount === 0 ? "empty" : "finished", path);
      assert.deepEqual(pickFrom(inspection.summary), expected, path);
    }
  }
});

slowTest("every conformance file exports to the same messages in order of log time", { skip }, async () => {
  for (const path of listSharedFiles(conformanceFolder, ".mcap")) {
    const bytes = await readFile(path);
    const exported = await exportBytes(bytes, { compression: "lz4", includeAttachments: true });
    const strip = (file: Uint8Array) =>
      readMessages(file).map(({ channelId, schema, ...rest }) => ({ ...rest, schema: [...schema] }));
    const expected = strip(bytes).sort((a, b) => Number(a.logTimeNs - b.logTimeNs));
    assert.deepEqual(strip(exported), expected, path);
    const kept = await inspectRecording(bytesSource(exported), { fileName: "x.mcap" });
    const original = await inspectRecording(bytesSource(bytes), { fileName: "x.mcap" });
    assert.ok("summary" in kept && "summary" in original);
    assert.equal(kept.summary.method, "index", path);
    assert.deepEqual(kept.summary.metadata, original.summary.metadata);
    assert.deepEqual(
      kept.summary.attachments.map(({ dataOffset, crc, ...rest }) => rest),
      original.summary.attachments.map(({ dataOffset, crc, ...rest }) => rest),
    );
  }
});

type Expectation = Pick<RecordingSummary, "messageCount" | "startNs" | "endNs" | "metadata" | "profile" | "library"> & {
  readonly topics: object[];
  readonly attachments: object[];
};

function pickFrom(summary: RecordingSummary): Expectation {
  const { messageCount, startNs, endNs, metadata, profile, library } = summary;
  return {
    messageCount,
    startNs,
    endNs,
    metadata,
    profile,
    library,
    topics: summary.topics.map(
      ({ topic, messageEncoding, schemaName, schemaEncoding, schema, messageCount: count }) => ({
        topic,
        messageEncoding,
        schemaName,
        schemaEncoding,
        schema: [...schema],
        count,
      }),
    ),
    attachments: summary.attachments.map(({ name, mediaType, logTimeNs, createTimeNs, sizeBytes }) => ({
      name,
      mediaType,
      logTimeNs,
      createTimeNs,
      sizeBytes,
    })),
  };
}

type Fields = Record<string, string & string[] & Record<string, string>>;

/** From the list of records beside each file; what the summary section repeats is left out. */
function expectationOf({ records }: { records: { type: string; fields: [string, unknown][] }[] }): Expectation {
  const end = records.findIndex(({ type }) => type === "DataEnd");
  const of = (type: string) =>
    records
      .slice(0, end)
      .flatMap((record) => (record.type === type ? [Object.fromEntries(record.fields) as Fields] : []));
  const messages = of("Message");
  const times = messages.map(({ log_time }) => BigInt(log_time!)).sort((a, b) => Number(a - b));
  const schemas = new Map(of("Schema").map((schema) => [String(schema.id), schema]));
  const header = of("Header")[0]!;
  return {
    messageCount: messages.length,
    startNs: times[0],
    endNs: times.at(-1),
    metadata: of("Metadata").map(({ name, metadata }) => ({ name: String(name), metadata: metadata! })),
    profile: header.profile || undefined,
    library: header.library || undefined,
    topics: of("Channel").map((channel) => ({
      topic: channel.topic,
      messageEncoding: channel.message_encoding,
      schemaName: schemas.get(String(channel.schema_id))?.name ?? "",
      schemaEncoding: schemas.get(String(channel.schema_id))?.encoding ?? "",
      schema: (schemas.get(String(channel.schema_id))?.data ?? []).map(Number),
      count: messages.filter(({ channel_id }) => channel_id === channel.id).length,
    })),
    attachments: of("Attachment").map(({ name, media_type, log_time, create_time, data }) => ({
      name,
      mediaType: media_type,
      logTimeNs: BigInt(log_time!),
      createTimeNs: BigInt(create_time!),
      sizeBytes: data!.length,
    })),
  };
}
