import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { EdgeItem, type EdgeRecordingItem, edgeLimits } from "@downlink/protocol";
import { bytesSource, countReads, FileSource } from "@downlink/recordings";
import { corrupt, jumpedSpans, makeBag, makeClockJump, makeMcap, slowTest } from "@downlink/recordings/testing";
import { reportedState } from "../inventory/file-state.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { itemOf } from "./build-item.ts";
import { examineFile } from "./examine-file.ts";

const { signal } = new AbortController();

test("indexing an indexed MCAP of 1 GB reads at most 1 MiB of it", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "downlink-large-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "large.mcap");
  await writeLargeMcap(path, 1024 ** 3);
  await using file = await FileSource.open(path);
  const source = countReads(file);
  const verdict = await examineFile(trackedFile("large.mcap", file.sizeBytes), source, { signal, isOverdue: false });
  assert.equal(verdict.event, "finished");
  assert.ok(file.sizeBytes > 1024 ** 3);
  assert.ok(source.bytesRead <= 1024 * 1024, `${source.bytesRead} bytes were read`);
  t.diagnostic(`${source.bytesRead} bytes in ${source.reads} reads`);
});

test("a finished recording becomes an item that keeps the contract, a bag as well as an MCAP", async () => {
  const attachments = [{ name: "calibration.json", data: new Uint8Array([1]) }];
  const files = { "a.mcap": await makeMcap({ attachments }), "b.bag": await makeBag({}) };
  for (const [path, bytes] of Object.entries(files)) {
    const file = trackedFile(path, bytes.byteLength);
    const { event, findings } = await examineFile(file, bytesSource(bytes), { signal, isOverdue: false });
    assert.equal(event, "finished");
    const item = itemOf({ ...file, path: "renamed" }, "indexed", findings);
    assert.ok(item?.state === "indexed" && item.topics.length > 0 && item.messageCount > 0);
    assert.deepEqual([item.path, item.size, item.start], ["renamed", bytes.byteLength, findings?.startNs]);
    assert.ok(EdgeItem.safeEncode(item).success);
  }
});

test("what a control plane refuses of a whole recording, the agent says at its first look", async () => {
  const bytes = await makeMcap({ topics: [{ topic: `/${"x".repeat(2000)}`, kind: "log", rateHz: 5 }] });
  const file = trackedFile("a.mcap", bytes.byteLength);
  const { event, findings } = await examineFile(file, bytesSource(bytes), { signal, isOverdue: false });
  assert.deepEqual([event, findings?.reason?.code], ["foundDamaged", "NameTooLong"]);
  assert.match(
    findings!.reason!.text,
    /^It is whole, and a topic's name is 2001 bytes long, at most 2000 are kept: .*\. Record with a shorter name\.$/,
  );
});

test("the item of a recording whose clock jumped says when its messages are; another one says nothing more than before", async () => {
  const itemsOf = async (bytes: Uint8Array) => {
    const file = trackedFile("a.mcap", bytes.byteLength);
    const { findings } = await examineFile(file, bytesSource(bytes), { signal, isOverdue: false });
    return JSON.parse(findings!.item!);
  };
  const { spans } = EdgeItem.parse(await itemsOf(await makeClockJump())) as EdgeRecordingItem;
  assert.deepEqual(
    spans,
    jumpedSpans.map(({ startNs, endNs }) => ({ start: startNs, end: endNs })),
  );
  assert.ok(!("spans" in (await itemsOf(await makeMcap()))));
});

test("a file without its end is unfinished at first, and incomplete with what is readable once it is overdue", async () => {
  const whole = await makeMcap({ durationSeconds: 3, chunkBytes: 20_000 });
  const source = bytesSource(whole.slice(0, whole.byteLength - 500));
  const file = trackedFile("cut.mcap", source.sizeBytes);
  assert.deepEqual(await examineFile(file, source, { signal, isOverdue: false }), { event: "unfinished" });
  const { event, findings } = await examineFile(file, source, { signal, isOverdue: true });
  assert.equal(event, "stayedUnfinished");
  assert.equal(findings?.reason?.code, "NoEnd");
  assert.ok(findings?.startNs !== undefined && findings.endNs! > findings.startNs);
});

test("a file that begins like no recording has no end to wait for; one of zeros, none or the first bytes has", async () => {
  const verdictOf = async (bytes: Uint8Array, path = "a.mcap") => {
    const { event, findings } = await examineFile(trackedFile(path, bytes.byteLength), bytesSource(bytes), {
      signal,
      isOverdue: false,
    });
    return [event, findings?.reason?.code];
  };
  const noise = Uint8Array.from({ length: 5000 }, (_, index) => (index * 197 + 13) % 251);
  assert.deepEqual(await verdictOf(noise), ["foundDamaged", "NotARecording"]);
  assert.deepEqual(await verdictOf(noise, "a.bag"), ["foundDamaged", "NotARecording"]);
  assert.deepEqual(await verdictOf(Buffer.from("#ROSBAG V1.2\n and so on"), "a.bag"), [
    "foundDamaged",
    "UnsupportedFormat",
  ]);
  for (const young of [new Uint8Array(5000), new Uint8Array(0), Buffer.from("\x89MCAP", "latin1")])
    assert.deepEqual(await verdictOf(young), ["unfinished", undefined]);
});

test("a file with a whole end is damaged at once if only its first bytes are, because nothing more is written to it", async () => {
  for (const [path, whole] of [
    ["a.mcap", await makeMcap({ durationSeconds: 1 })],
    ["a.bag", await makeBag({ durationSeconds: 1 })],
  ] as const)
    for (const at of [0, 4]) {
      const bytes = Uint8Array.from(whole, (byte, index) => (index === at ? byte ^ 8 : byte));
      const file = trackedFile(path, bytes.byteLength);
      const { event, findings } = await examineFile(file, bytesSource(bytes), { signal, isOverdue: false });
      assert.deepEqual([event, findings?.reason?.code], ["foundDamaged", "BadMagic"], `${path}, byte ${at}`);
      const cut = bytesSource(bytes.slice(0, -100));
      assert.deepEqual(await examineFile(file, cut, { signal, isOverdue: false }), { event: "unfinished" });
    }
});

test("a recording without a message counts as valid only if nothing speaks against it", async () => {
  const whole = Buffer.from(await makeMcap({ durationSeconds: 0, features: { useSummaryOffsets: false } }));
  const counting = Buffer.from(whole);
  const footer = whole.byteLength - 8 - 29;
  let statistics = Number(whole.readBigUInt64LE(footer + 9));
  while (whole[statistics] !== 0x0b) statistics += 9 + Number(whole.readBigUInt64LE(statistics + 1));
  counting.writeBigUInt64LE(5n, statistics + 9);
  counting.fill(0, whole.byteLength - 12, whole.byteLength - 8); // the checksum
  const attachments = [{ name: "calibration.json", data: new Uint8Array([1]) }];
  const attached = Buffer.from(await makeMcap({ durationSeconds: 0, attachments }));
  for (const [bytes, text] of [
    [whole, /^It is valid but holds no message, so it has no time span and is no recording\.$/],
    [attached, /^It is valid but holds no message, .*, and attachments alone \(1\) have no place in time\.$/],
    [counting, /not whole: the summary counts 5 messages, and the file holds none\.$/],
  ] as const) {
    const file = trackedFile("a.mcap", bytes.byteLength);
    const { event, findings } = await examineFile(file, bytesSource(bytes), { signal, isOverdue: false });
    assert.equal(event, "foundEmpty");
    assert.match(findings!.reason!.text, text);
  }
});

test("every broken file gets a state and a reason that can be reported, and none throws", async () => {
  const variants = [...corrupt(await makeMcap({}), "a.mcap"), ...corrupt(await makeBag({}), "a.bag")];
  for (const { name, fileName, bytes } of variants) {
    const file = trackedFile(fileName, bytes.byteLength);
    const { event, findings } = await examineFile(file, bytesSource(bytes), { signal, isOverdue: true });
    const state = {
      finished: "indexed",
      foundDamaged: "damaged",
      stayedUnfinished: "incomplete",
      foundEmpty: "empty",
    } as const;
    const item = itemOf(file, reportedState(state[event as keyof typeof state])!, findings);
    assert.ok(item && EdgeItem.safeEncode(item).success, name);
    if (item.state !== "indexed") assert.ok(item.reason?.text, name);
  }
});

slowTest(
  "a recording with more in it than a report holds is listed as far as that goes, and says what is left out",
  async () => {
    const metadata: { name: string; metadata: Record<string, string> }[] = [
      { name: "small", metadata: { text: "x" } },
      { name: "big", metadata: { text: "x".repeat(5_000_000) } },
      { name: "downlink", metadata: { deviceName: "rover" } },
    ];
    const topics = Array.from(
      { length: 9000 },
      (_, index) => ({ topic: `/${index}`.padEnd(300, "x"), kind: "imu", rateHz: 10 }) as const,
    );
    const files = {
      "metadata.mcap": { bytes: await makeMcap({ metadata }), text: /: 1 of its metadata records will be known/ },
      "topics.mcap": {
        bytes: await makeMcap({ topics, durationSeconds: 0.1 }),
        text: /: \d+ of its channels will be known/,
      },
      "long.mcap": {
        bytes: await makeMcap({ topics: [{ topic: "/t".padEnd(2000, "x"), kind: "imu", rateHz: 10 }] }),
        text: /: 1 of its channels will/,
      },
    };
    for (const [path, { bytes, text }] of Object.entries(files)) {
      const file = trackedFile(path, bytes.byteLength);
      const { event, findings } = await examineFile(file, bytesSource(bytes), { signal, isOverdue: false });
      assert.deepEqual([event, findings?.reason?.code], ["finished", "PartlyListed"]);
      assert.match(findings!.reason!.text, text);
      const item = itemOf(file, "indexed", findings);
      assert.ok(item?.state === "indexed" && item.messageCount > 0);
      assert.deepEqual(item.reason, findings!.reason);
      if (path === "metadata.mcap")
        assert.deepEqual(
          item.metadata.map(({ name }) => name),
          ["small", "downlink"],
        );
      assert.ok(Buffer.byteLength(JSON.stringify(EdgeItem.encode(item))) < edgeLimits.bytesPerReport);
    }
  },
);

function trackedFile(path: string, sizeBytes: number): TrackedFile {
  const identity = { device: 0, inode: 1, sizeBytes, mtimeNs: 0n, ctimeNs: 0n };
  return {
    versionId: "v".repeat(22),
    path,
    identity,
    state: "seen",
    reportedAs: undefined,
    needsReport: false,
    revision: 0,
    foundIn: 0,
  };
}

const FOOTER_BYTES = 20 + 8;
const DATA_END_BYTES = 13;

/** Writes a valid recording with a hole: a private record of that length before the end of its data. */
async function writeLargeMcap(path: string, holeBytes: number): Promise<void> {
  const features = { useSummaryOffsets: false, useAttachmentIndex: false, useMetadataIndex: false };
  const bytes = Buffer.from(await makeMcap({ features }));
  const footer = bytes.length - FOOTER_BYTES;
  const summaryStart = Number(bytes.readBigUInt64LE(footer));
  const cut = summaryStart - DATA_END_BYTES;
  const hole = Buffer.alloc(9);
  hole.writeUInt8(0x80);
  hole.writeBigUInt64LE(BigInt(holeBytes), 1);
  bytes.writeBigUInt64LE(BigInt(summaryStart + hole.length + holeBytes), footer);
  bytes.writeUInt32LE(0, footer + 16); // The summary has just been changed, so it gets no CRC.
  await using file = await open(path, "w");
  await file.write(bytes, 0, cut, 0);
  await file.write(hole, 0, hole.length, cut);
  await file.write(bytes, cut, bytes.length - cut, cut + hole.length + holeBytes);
}
