import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { bytesSource, inspectRecording } from "@downlink/recordings";
import { makeMcap, readIndexedMessages } from "@downlink/recordings/testing";
import { CUT_DIRECTORY, cutPathOf } from "../files/made-path.ts";
import { FileMovedError, lookAt } from "../files/open-tracked.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { NoRoomError } from "../making/write-made-file.ts";
import { mountSmall } from "../testing/mount-small.ts";
import { type Device, makeDevice } from "../testing/run-daemon.ts";
import { expectSize } from "./expect-size.ts";
import { type CutJob, writeCut } from "./write-cut.ts";

const blobs = [{ topic: "/blob", kind: "blob", rateHz: 10, sizeBytes: 50_000 }] as const;
const bytes = await makeMcap({ topics: blobs, durationSeconds: 4, compression: "" });
const unlimited = async () => ({ bytes: Number.POSITIVE_INFINITY, why: "" });

/** Puts a recording of 2 MB into the root and makes the job of a cut of all of it. */
async function jobFor({ root }: Pick<Device, "root">, changes: Partial<CutJob> = {}) {
  writeFileSync(join(root, "a.mcap"), bytes);
  const storage = { root, device: statSync(root, { bigint: true }).dev };
  const identity = (await lookAt(storage, "a.mcap"))!;
  const file = { versionId: "version-0000-0001", path: "a.mcap", identity } as TrackedFile;
  const request = {
    ...{ requestId: "cut_1", versionId: file.versionId, topics: ["/blob"], isMade: false },
    ...{ start: 0n, end: 2n ** 62n },
  };
  const { signal } = new AbortController();
  const job: CutJob = { storage, file, request, findings: undefined, room: unlimited, signal, ...changes };
  return { job, target: join(root, cutPathOf(file, "cut_1")) };
}

for (const [what, strike, is] of [
  ["changes", (path: string) => appendFileSync(path, "more"), "changed"],
  ["is rewritten with the same size", (path: string) => writeFileSync(path, bytes), "changed"],
  ["goes", rmSync, "missing"],
] as const)
  test(`a file that ${what} while it is cut leaves no cut`, async () => {
    using device = makeDevice();
    let strikes = 0;
    const room = async () => {
      if (strikes++ === 1) strike(join(device.root, "a.mcap"));
      return { bytes: 3_000_000, why: "" };
    };
    const { job, target } = await jobFor(device, { room });
    await assert.rejects(writeCut(job), (error) => error instanceof FileMovedError && error.is === is);
    assert.ok(strikes > 1);
    assert.deepEqual(readdirSync(dirname(target)), []);
  });

test("a cut takes no byte more than there is room for, and leaves nothing where that is too little", async () => {
  using device = makeDevice();
  let most = 0;
  const room = async (writtenBytes: number) => {
    most = Math.max(most, writtenBytes);
    return { bytes: 1_500_000 - writtenBytes, why: "the rest is left to the recorder" };
  };
  const { job, target } = await jobFor(device, { room });
  await assert.rejects(
    writeCut(job),
    (error) => error instanceof NoRoomError && /left to the recorder/.test(error.message),
  );
  assert.ok(most > 500_000 && most <= 1_500_000, `${most} bytes were written`);
  assert.deepEqual(readdirSync(dirname(target)), []);
});

test("a cut that would be much larger than the room is not begun", async () => {
  using device = makeDevice();
  const item = JSON.stringify({ topics: [{ topic: "/blob", bytes: 2_000_000 }, { topic: "/other" }] });
  const findings = { headTailSha256: "", startNs: 0n, endNs: 100n, item };
  let measured = 0;
  const room = async () => ({ bytes: 900_000, why: `it was measured ${++measured} times` });
  const { job } = await jobFor(device, { findings, room });
  await assert.rejects(writeCut(job), /measured 1 times/);
  assert.equal(expectSize(findings, { ...job.request, start: 50n, end: 75n }), 500_000);
  assert.equal(expectSize(findings, { ...job.request, start: 101n }), 0);
  assert.equal(expectSize(findings, { ...job.request, topics: ["/other"] }), 0);
});

test("on a disk that becomes full the cut is given up, and takes no room any more", async (t) => {
  using device = makeDevice();
  using disk = mountSmall(t, device.root, "4m");
  if (!disk) return;
  const { job, target } = await jobFor(device);
  const { bavail, bsize } = statfsSync(device.root);
  const left = 500_000;
  writeFileSync(join(device.root, "of-a-recorder"), Buffer.alloc(bavail * bsize - left));
  await assert.rejects(writeCut(job), NoRoomError);
  assert.deepEqual(readdirSync(dirname(target)), []);
  const free = statfsSync(device.root);
  assert.ok(free.bavail * free.bsize >= left - 50_000);
});

test("a root that is read-only takes no cut", async (t) => {
  using device = makeDevice();
  using disk = mountSmall(t, device.root, "8m");
  if (!disk) return;
  const { job } = await jobFor(device);
  execFileSync("mount", ["-o", "remount,ro", device.root]);
  await assert.rejects(writeCut(job), NoRoomError);
});

test("nothing is written through a symlink, wherever it leads", async () => {
  for (const [link, to] of [
    [CUT_DIRECTORY, "outside"],
    [CUT_DIRECTORY, "nowhere"],
    [`${CUT_DIRECTORY}/cut_1`, "outside"],
  ] as const) {
    using device = makeDevice();
    const outside = join(device.root, "..", "outside");
    mkdirSync(outside);
    mkdirSync(join(device.root, dirname(link)), { recursive: true });
    symlinkSync(join(device.root, "..", to), join(device.root, link));
    const { job } = await jobFor(device);
    await assert.rejects(writeCut(job), NoRoomError);
    assert.deepEqual(readdirSync(outside), []);
  }
});

test("a symlink in the place of the file of a cut is replaced, and what it leads to stays as it is", async () => {
  for (const end of ["", ".partial"]) {
    using device = makeDevice();
    const { job, target } = await jobFor(device);
    const secret = join(device.root, "..", "secret.mcap");
    writeFileSync(secret, "mine");
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(secret, target + end);
    await writeCut(job);
    assert.equal(readFileSync(secret, "utf8"), "mine");
    assert.equal((await readIndexedMessages(readFileSync(target))).length, 40);
    const { state } = await inspectRecording(bytesSource(readFileSync(target)), { fileName: "a.mcap" });
    assert.equal(state, "finished");
    assert.ok(!existsSync(`${target}.partial`));
  }
});

test("a cut that is there is left alone, also where the file is gone meanwhile", async () => {
  using device = makeDevice();
  const { job, target } = await jobFor(device);
  await writeCut(job);
  const { mtimeNs } = statSync(target, { bigint: true });
  rmSync(join(device.root, "a.mcap"));
  await writeCut(job);
  assert.equal(statSync(target, { bigint: true }).mtimeNs, mtimeNs);
});

test("a part whose bytes are all damaged is not called one without messages", async () => {
  using device = makeDevice();
  const sound = await makeMcap({ topics: blobs, durationSeconds: 1, compression: "zstd", chunkBytes: 10_000_000 });
  const damaged = Buffer.from(sound);
  const at = damaged.indexOf(Buffer.from([0x28, 0xb5, 0x2f, 0xfd])); // the only chunk begins as all of zstd do
  assert.ok(at > 0);
  damaged.fill(0xff, at, at + 200);
  const { job, target } = await jobFor(device);
  writeFileSync(join(device.root, "a.mcap"), damaged);
  const identity = (await lookAt(job.storage, "a.mcap"))!;
  await assert.rejects(writeCut({ ...job, file: { ...job.file, identity } }), /what it holds of the part is damaged/);
  assert.deepEqual(readdirSync(dirname(target)), []);
});
