import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { FileSource } from "../sources/file-source.ts";
import { SourceChangedError } from "../sources/source.ts";
import { exportBytes, exportSource, indexedSource } from "../testing/export-bytes.ts";
import { makeMcap } from "../testing/make-mcap.ts";
import { type ReadMessage, readIndexedMessages, readMessages } from "../testing/read-messages.ts";
import type { ExportSource, McapExportOptions } from "./plan/export-options.ts";

const folder = mkdtempSync(join(tmpdir(), "downlink-pick-"));
after(() => rmSync(folder, { recursive: true }));

/** Two topics that are little of their chunks. */
const sound = new Uint8Array(
  await makeMcap({
    topics: [
      { topic: "/camera", kind: "blob", rateHz: 30, sizeBytes: 50_000 },
      { topic: "/imu", kind: "imu", rateHz: 40 },
      { topic: "/gps", kind: "gps", rateHz: 3 },
    ],
    durationSeconds: 6,
    chunkBytes: 600_000,
    compression: "",
  }),
);
const { openIndex } = await indexedSource(sound);

function fileSource(bytes: Uint8Array): ExportSource {
  const path = join(folder, "drive.mcap");
  writeFileSync(path, bytes);
  return exportSource(bytes, { openIndex, open: () => FileSource.open(path) });
}

function keysOf(messages: readonly ReadMessage[]): string[] {
  return messages
    .map(
      ({ topic, sequence, logTimeNs, data }) =>
        `${logTimeNs} ${topic} ${sequence} ${Buffer.from(data).toString("hex")}`,
    )
    .sort();
}

const topics = ["/imu", "/gps"];
const times = readMessages(sound).map(({ logTimeNs }) => logTimeNs);
const selections: Partial<McapExportOptions>[] = [
  { topics },
  { topics: ["/gps"] },
  { topics, startNs: times[100]!, endNs: times[250]! },
  { topics, readsWholeChunks: true },
];

for (const compression of ["", "zstd"] as const)
  test(`few messages of large uncompressed chunks are read one by one, exactly: "${compression}"`, async () => {
    for (const selection of selections) {
      const { startNs = 0n, endNs = 2n ** 63n } = selection;
      const wanted = readMessages(sound).filter(
        ({ topic, logTimeNs }) => selection.topics!.includes(topic) && logTimeNs >= startNs && logTimeNs <= endNs,
      );
      const exported = await exportBytes([fileSource(sound)], { ...selection, compression });
      assert.deepEqual(keysOf(readMessages(exported)), keysOf(wanted));
      assert.deepEqual(keysOf(await readIndexedMessages(exported)), keysOf(wanted));
    }
  });

test("a message or an index that is not what it was ends the export; what is not read is not missed, unless chunks are read whole", async () => {
  const imu = readMessages(sound).findLast(({ topic }) => topic === "/imu")!;
  const timeBytes = Buffer.alloc(8);
  timeBytes.writeBigUInt64LE(imu.logTimeNs);
  const bytes = Buffer.from(sound);
  const inData = bytes.indexOf(Buffer.from(imu.data));
  const inMessage = inData - 16;
  const inIndex = bytes.indexOf(timeBytes, inData);
  for (const at of [inMessage, inIndex]) {
    const changed = sound.with(at, sound[at]! ^ 1);
    await assert.rejects(exportBytes([fileSource(changed)], { topics }), SourceChangedError);
  }
  const picture = readMessages(sound).find(({ topic }) => topic === "/camera")!;
  const inPicture = bytes.indexOf(Buffer.from(picture.data)) + 40_000;
  const changed = sound.with(inPicture, sound[inPicture]! ^ 1);
  assert.ok((await exportBytes([fileSource(changed)], { topics })).byteLength > 0);
  await assert.rejects(exportBytes([fileSource(changed)], { topics, readsWholeChunks: true }), SourceChangedError);
});
