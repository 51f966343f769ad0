import assert from "node:assert/strict";
import { closeSync, openSync, readFileSync, statSync, utimesSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FakeCloud } from "../testing/fake-cloud.ts";
import type { FakeRequest, Fault } from "../testing/fake-http.ts";
import { writeRecording } from "../testing/recordings.ts";
import { makeDevice, type RunningDaemon, settingsFor, startDaemon } from "../testing/run-daemon.ts";
import { untilStored } from "../testing/upload-scene.ts";

const MIN = 64 * 1024;
/** A rate that is slow enough for pieces, and fast enough for a test. */
const SLOW = { uploadRate: "900kB/s" };

interface Scene {
  readonly cloud: FakeCloud;
  readonly bytes: Buffer;
  readonly agent: RunningDaemon;
  readonly start: () => RunningDaemon;
  readonly path: string;
  readonly versionId: string;
}

/** Makes a device with one recording of two parts, and a cloud that takes pieces. */
async function withUpload(work: (scene: Scene) => Promise<void>, flags = SLOW, partSize = 12 * MIN): Promise<void> {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.uploads.takesPieces = true;
  cloud.uploads.partSize = partSize;
  const bytes = await writeRecording(device, "a.mcap", { sizeBytes: (partSize * 4) / 3 });
  const settings = settingsFor(device, cloud, flags);
  const start = () => startDaemon(settings);
  await using agent = start();
  await cloud.until("the file is reported", () => cloud.at("a.mcap") !== undefined);
  const { versionId } = cloud.at("a.mcap")!;
  await work({ cloud, bytes, agent, start, path: join(device.root, "a.mcap"), versionId });
}

/** Holds back pieces that begin at this byte of their part or behind it, until they are released. */
function holdPieces(cloud: FakeCloud, from: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const isHeld = ({ name, path }: FakeRequest) => name === "putPiece" && Number(path.split("/").at(-1)) >= from;
  cloud.gate = (request) => (isHeld(request) ? promise : undefined);
  return () => {
    cloud.gate = () => undefined;
    resolve();
  };
}

/** Returns the bytes that were sent in vain: those of pieces that were received more than once, whole or in part. */
function sentTwice(cloud: FakeCloud): number {
  const ends = new Map<number, number>();
  let bytes = 0;
  for (const { number, offset, length } of cloud.uploads.receivedPieces) {
    bytes += Math.max(0, Math.min(ends.get(number) ?? 0, offset + length) - offset);
    ends.set(number, Math.max(ends.get(number) ?? 0, offset + length));
  }
  return bytes;
}

test("on a slow link a part goes in pieces, beginning with the shortest; a faster one gets whole parts from the second request on", async () => {
  await withUpload(async (scene) => {
    scene.cloud.requestImport("a.mcap");
    await untilStored(scene);
    const lengths = scene.cloud.uploads.receivedPieces.map(({ length }) => length);
    assert.equal(lengths[0], MIN);
    assert.ok(lengths.length >= 3 && lengths.every((length) => length < 12 * MIN), String(lengths));
    assert.equal(sentTwice(scene.cloud), 0);
  });
  await withUpload(
    async (scene) => {
      scene.cloud.requestImport("a.mcap");
      await untilStored(scene);
      const { received, receivedPieces } = scene.cloud.uploads;
      assert.deepEqual(
        receivedPieces.map(({ length }) => length),
        [MIN],
      );
      assert.deepEqual(received.toSorted(), [1, 2]);
      const { counters, problems } = await scene.agent.status();
      assert.deepEqual([counters.failedTries, problems], [0, []]);
    },
    { uploadRate: "unlimited" },
    48 * MIN,
  );
});

test("an agent that is stopped in the middle of a part goes on behind the last piece that was acknowledged", async () => {
  await withUpload(async (scene) => {
    const { cloud, agent, start, bytes } = scene;
    const release = holdPieces(cloud, 3 * MIN);
    const requestId = cloud.requestImport("a.mcap");
    await cloud.until("a piece is on its way", () => cloud.calls.some(({ path }) => isPieceBehind(path, 3 * MIN)));
    const heldOf = (number: number) =>
      cloud.uploads.pieces(requestId, number).reduce((sum, piece) => sum + piece.bytes.length, 0);
    const heldBytes = heldOf(1);
    assert.ok(heldBytes >= MIN);
    // The other part is sent at the same time, or is complete.
    const durableBytes = () => heldBytes + heldOf(2) + cloud.uploads.durable(requestId) * (bytes.length - 12 * MIN);
    await agent.until(
      "what is shown is what is durable",
      ({ transfers }) => transfers[0]?.sentBytes === durableBytes(),
    );
    await agent.stop();
    release();
    cloud.uploads.receivedPieces.length = 0;
    await using _second = start();
    await untilStored(scene);
    assert.equal(cloud.uploads.receivedPieces.find(({ number }) => number === 1)!.offset, heldBytes);
    assert.equal(sentTwice(cloud), 0);
  });
});

const faults: [string, Fault][] = [
  ["cut in the middle", { kind: "cut", afterBytes: 1000 }],
  ["answered with 500", { kind: "answer", status: 500, code: "Internal" }],
  ["stored, but its answer lost", { kind: "loseAnswer" }],
];

test("a piece that fails costs that piece only, and what arrived without an answer is not sent again", async (t) => {
  for (const [name, fault] of faults)
    await t.test(name, async () => {
      await withUpload(async (scene) => {
        let left = 2;
        scene.cloud.fault = ({ path }) => (isPieceBehind(path, MIN) && left-- > 0 ? fault : undefined);
        scene.cloud.requestImport("a.mcap");
        await untilStored(scene);
        assert.equal(sentTwice(scene.cloud), 0);
        await scene.agent.until("no problem is left", ({ problems }) => problems.length === 0);
      });
    });
});

test("a whole part that arrived without an answer is composed, not sent again", async () => {
  await withUpload(
    async (scene) => {
      const { cloud } = scene;
      let isLost = false;
      cloud.fault = ({ name }) => {
        if (name !== "put" || isLost) return undefined;
        isLost = true;
        return { kind: "loseAnswer" };
      };
      cloud.requestImport("a.mcap");
      await untilStored(scene);
      assert.deepEqual([isLost, cloud.uploads.received.filter((number) => number === 2)], [true, [2]]);
    },
    { uploadRate: "unlimited" },
    48 * MIN, // So much that it does not go whole again, even where the pieces of the other part show a quick link.
  );
});

test("a part whose pieces in the cloud differ from the file is never continued: the file is another version", async () => {
  await withUpload(async ({ cloud, agent, start, versionId }) => {
    const release = holdPieces(cloud, 3 * MIN);
    const requestId = cloud.requestImport("a.mcap");
    await cloud.until("a piece is on its way", () => cloud.calls.some(({ path }) => isPieceBehind(path, 3 * MIN)));
    await agent.stop();
    release();
    cloud.uploads.pieces(requestId, 1)[0]!.bytes[5000]! ^= 1;
    await using _second = start();
    await cloud.until("the request has failed", () => cloud.failures.length > 0);
    assert.deepEqual(cloud.failures, [{ requestId, code: "FileChanged" }]);
    await cloud.until("there is a new version", () => cloud.at("a.mcap") !== undefined && !cloud.files.has(versionId));
    assert.equal(cloud.uploads.stored.size, 0);
  });
});

async function rewriteBetweenPieces(scene: Scene, offset: number): Promise<string> {
  const { cloud, path } = scene;
  const release = holdPieces(cloud, 3 * MIN);
  const requestId = cloud.requestImport("a.mcap");
  await cloud.until("a piece is on its way", () => cloud.calls.some((call) => isPieceBehind(call.path, 3 * MIN)));
  const { atime, mtime } = statSync(path);
  const file = openSync(path, "r+");
  writeSync(file, "changed", offset);
  closeSync(file);
  utimesSync(path, atime, mtime);
  release();
  return requestId;
}

test("a file that is rewritten where it was sent already is another version, also where its time is put back", async () => {
  await withUpload(async (scene) => {
    const { cloud, versionId } = scene;
    const requestId = await rewriteBetweenPieces(scene, MIN + 99);
    await cloud.until("the version is gone", () => !cloud.files.has(versionId) && cloud.at("a.mcap") !== undefined);
    await cloud.until("the request has failed", () => cloud.failures.length > 0);
    assert.deepEqual([cloud.failures, cloud.uploads.stored.size], [[{ requestId, code: "FileChanged" }], 0]);
  });
});

test("a file that is rewritten where nothing was sent yet is delivered as it is then, and nothing of it as it was", async () => {
  await withUpload(async (scene) => {
    const { cloud, path } = scene;
    await rewriteBetweenPieces(scene, 9 * MIN);
    await cloud.until("it is stored or given up", () => cloud.uploads.stored.size + cloud.failures.length > 0);
    for (const stored of cloud.uploads.stored.values()) assert.ok(stored.equals(readFileSync(path)));
  });
});

test("pieces that a cloud has forgotten or refuses to make a part of are sent again", async (t) => {
  const accidents: Record<string, (pieces: ReturnType<FakeCloud["uploads"]["pieces"]>) => void> = {
    "forgotten, all of them": (pieces) => pieces.splice(0),
    "forgotten, the last one": (pieces) => void pieces.pop(),
    damaged: (pieces) => {
      pieces[0]!.bytes[99]! ^= 1;
    },
  };
  for (const [name, happen] of Object.entries(accidents))
    await t.test(name, async () => {
      await withUpload(async (scene) => {
        let isOver = false;
        const requestId = scene.cloud.requestImport("a.mcap");
        scene.cloud.gate = (request) => {
          if (request.name !== "composePart" || isOver) return undefined;
          isOver = true;
          happen(scene.cloud.uploads.pieces(requestId, 1));
          return undefined;
        };
        await untilStored(scene);
        assert.ok(isOver);
      });
    });
});

function isPieceBehind(path: string, offset: number): boolean {
  return path.startsWith("/pieces/") && Number(path.split("/").at(-1)) >= offset;
}
