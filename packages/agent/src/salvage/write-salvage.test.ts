import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { bytesSource, inspectRecording, SourceChangedError } from "@downlink/recordings";
import { eventually, makeMcap, slowTest } from "@downlink/recordings/testing";
import { SALVAGE_DIRECTORY, salvagePathOf } from "../files/made-path.ts";
import { FileMovedError, lookAt } from "../files/open-tracked.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { NoRoomError } from "../making/write-made-file.ts";
import { writeRecording } from "../testing/recordings.ts";
import { type Device, makeDevice } from "../testing/run-daemon.ts";
import { writeSalvage } from "./write-salvage.ts";

const reason = { code: "NoEnd", text: "it has no end" };

async function jobFor({ root }: Device, path: string) {
  const storage = { root, device: statSync(root, { bigint: true }).dev };
  const identity = (await lookAt(storage, path))!;
  const file = { versionId: "version-0000-0001", path, identity } as TrackedFile;
  const target = join(root, salvagePathOf(file));
  const room = async () => ({ bytes: Number.POSITIVE_INFINITY, why: "" });
  return { target, job: { storage, file, reason, room, signal: new AbortController().signal } };
}

slowTest("a file that changes while it is salvaged leaves no salvage", async () => {
  using device = makeDevice();
  const bytes = await writeRecording(device, "a.mcap", { sizeBytes: 60_000_000 });
  writeFileSync(join(device.root, "a.mcap"), bytes.subarray(0, -100));
  const { job, target } = await jobFor(device, "a.mcap");
  const written = assert.rejects(
    writeSalvage(job),
    (error) => error instanceof FileMovedError || error instanceof SourceChangedError,
  );
  await eventually(() => existsSync(`${target}.partial`), Boolean);
  appendFileSync(join(device.root, "a.mcap"), "more");
  await written;
  assert.deepEqual(readdirSync(dirname(target)), []);
});

test("a second salvage finds the first one and leaves it alone", async () => {
  using device = makeDevice();
  writeFileSync(join(device.root, "a.mcap"), (await makeMcap()).slice(0, -100));
  const { job, target } = await jobFor(device, "a.mcap");
  await writeSalvage(job);
  const { mtimeNs } = statSync(target, { bigint: true });
  await writeSalvage(job);
  assert.equal(statSync(target, { bigint: true }).mtimeNs, mtimeNs);
});

test("nothing is written through a symlink that leads out of the root", async () => {
  using device = makeDevice();
  const outside = join(device.root, "..", "outside");
  mkdirSync(outside);
  symlinkSync(outside, join(device.root, SALVAGE_DIRECTORY));
  writeFileSync(join(device.root, "a.mcap"), (await makeMcap()).slice(0, -100));
  const { job } = await jobFor(device, "a.mcap");
  await assert.rejects(writeSalvage(job), NoRoomError);
  assert.deepEqual(readdirSync(outside), []);
});

test("a damaged attachment is left out, and the messages are kept", async () => {
  using device = makeDevice();
  const data = Buffer.alloc(5000, "calibration ");
  const attachment = { name: "calibration.txt", mediaType: "text/plain", data };
  const bytes = Buffer.from(await makeMcap({ attachments: [attachment] }));
  const messages = await inspectRecording(bytesSource(bytes), { fileName: "a.mcap" });
  bytes[bytes.indexOf(data) + 100]! ^= 1;
  writeFileSync(join(device.root, "a.mcap"), bytes.subarray(0, -20));
  const { job, target } = await jobFor(device, "a.mcap");
  await writeSalvage(job);
  const salvage = await inspectRecording(bytesSource(readFileSync(target)), { fileName: "a.mcap" });
  assert.ok(salvage.state === "finished" && messages.state === "finished");
  assert.equal(salvage.summary.messageCount, messages.summary.messageCount);
  assert.deepEqual(salvage.summary.attachments, []);
});
