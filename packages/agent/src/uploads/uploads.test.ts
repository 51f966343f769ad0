import assert from "node:assert/strict";
import { closeSync, openSync, renameSync, rmSync, statSync, utimesSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FakeCloud } from "../testing/fake-cloud.ts";
import type { FakeRequest, Fault } from "../testing/fake-http.ts";
import { writeRecording } from "../testing/recordings.ts";
import { type Device, makeDevice, type RunningDaemon, settingsFor, startDaemon } from "../testing/run-daemon.ts";

const PART_BYTES = 64 * 1024;

/** Makes a device with one recording of about ten parts that the cloud knows. */
async function withUpload(work: (scene: Scene) => Promise<void>, flags = {}): Promise<void> {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const bytes = await writeRecording(device, "a.mcap", { sizeBytes: 10 * PART_BYTES });
  const settings = settingsFor(device, cloud, flags);
  const start = () => startDaemon(settings);
  await using agent = start();
  await cloud.until("the file is reported", () => cloud.at("a.mcap") !== undefined);
  await work({
    device,
    cloud,
    bytes,
    agent,
    start,
    path: join(device.root, "a.mcap"),
    versionId: cloud.at("a.mcap")!.versionId,
  });
}

interface Scene {
  readonly device: Device;
  readonly cloud: FakeCloud;
  readonly bytes: Buffer;
  readonly agent: RunningDaemon;
  readonly start: () => RunningDaemon;
  readonly path: string;
  readonly versionId: string;
}

/** Holds back the given part and all later ones until they are released. */
function holdParts(cloud: FakeCloud, from: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const isHeld = ({ name, path }: FakeRequest) => name === "put" && Number(path.split("/").at(-1)) >= from;
  cloud.gate = (request) => (isHeld(request) ? promise : undefined);
  const release = () => {
    cloud.gate = () => undefined;
    resolve();
  };
  return { release };
}

function faultOnce(matches: (request: FakeRequest) => boolean, fault: Fault, times = 1) {
  let left = times;
  return (request: FakeRequest) => (matches(request) && left-- > 0 ? fault : undefined);
}

const isPart =
  (number: number) =>
  ({ name, path }: FakeRequest) =>
    name === "put" && path.endsWith(`/${number}`);

async function untilStored({ cloud, versionId, bytes }: Scene): Promise<void> {
  await cloud.until("it is stored", () => cloud.uploads.stored.has(versionId));
  assert.ok(cloud.uploads.stored.get(versionId)?.equals(bytes));
}

test("a stopped agent resumes: parts that were acknowledged are not sent again", async () => {
  await withUpload(async (scene) => {
    const { cloud, agent, start } = scene;
    const { release } = holdParts(cloud, 6);
    const requestId = cloud.requestImport("a.mcap");
    await cloud.until("five parts are durable", () => cloud.uploads.durable(requestId) === 5);
    await agent.stop();
    release();
    await using _second = start();
    await untilStored(scene);
    const { received } = cloud.uploads;
    assert.equal(new Set(received).size, Math.ceil(scene.bytes.length / PART_BYTES));
    for (let number = 1; number <= 5; number++) assert.equal(received.filter((part) => part === number).length, 1);
  });
});

const part3: [string, Fault][] = [
  ["cut in the middle", { kind: "cut", afterBytes: 1000 }],
  ["answered with 500", { kind: "answer", status: 500, code: "Internal" }],
  ["answered with 429", { kind: "answer", status: 429, code: "RateLimited", retryAfterSeconds: 1 }],
  ["answered by a captive portal", { kind: "html", status: 403 }],
  ["stored, but its answer lost", { kind: "loseAnswer" }],
];

test("a part that fails is sent again, and only that part", async (t) => {
  await Promise.all(
    part3.map(([name, fault]) =>
      t.test(name, async () => {
        await withUpload(async (scene) => {
          const { cloud } = scene;
          cloud.fault = faultOnce(isPart(3), fault);
          cloud.requestImport("a.mcap");
          await untilStored(scene);
          const others = cloud.uploads.received.filter((part) => part !== 3);
          assert.equal(new Set(others).size, others.length);
          await scene.agent.until("no problem is left", ({ problems }) => problems.length === 0);
        });
      }),
    ),
  );
});

test("the control plane goes away during an upload and comes back: the upload goes on where it was", async () => {
  await withUpload(async (scene) => {
    const { cloud, agent } = scene;
    const { release } = holdParts(cloud, 4);
    const requestId = cloud.requestImport("a.mcap");
    await cloud.until("three parts are durable", () => cloud.uploads.durable(requestId) === 3);
    await cloud.goAway();
    release();
    await agent.until("the agent says so", ({ problems }) => problems.some(({ code }) => code === "CloudUnreachable"));
    await cloud.listen();
    await untilStored(scene);
    for (const number of [1, 2, 3]) assert.equal(cloud.uploads.received.filter((part) => part === number).length, 1);
  });
});

test("a file that changes during its upload fails with the reason, nothing of it is stored, and what is there now is another version", async (t) => {
  const changes: Record<string, (path: string) => void> = {
    "rewritten in place with its time put back": (path) => {
      const { atime, mtime } = statSync(path);
      const file = openSync(path, "r+");
      writeSync(file, "changed", 5000);
      closeSync(file);
      utimesSync(path, atime, mtime);
    },
    "replaced by another file": (path) => {
      const file = openSync(`${path}.part`, "w");
      writeSync(file, "something else");
      closeSync(file);
      renameSync(`${path}.part`, path);
    },
  };
  for (const [name, change] of Object.entries(changes)) {
    await t.test(name, async () => {
      await withUpload(async ({ cloud, path, versionId }) => {
        const { release } = holdParts(cloud, 4);
        const requestId = cloud.requestImport("a.mcap");
        await cloud.until("three parts are durable", () => cloud.uploads.durable(requestId) === 3);
        change(path);
        release();
        await cloud.until(
          "the request has failed",
          () => cloud.requests.get(requestId)?.stage === "failed" || cloud.acknowledged.includes(requestId),
        );
        await cloud.until("the version is gone", () => !cloud.files.has(versionId));
        await cloud.until("the new one is reported", () => cloud.at("a.mcap") !== undefined);
        assert.equal(cloud.uploads.stored.size, 0);
        assert.deepEqual(cloud.failures, [{ requestId, code: "FileChanged" }]);
      });
    });
  }
});

test("a file that is deleted during its upload fails as gone", async () => {
  await withUpload(async ({ cloud, path }) => {
    const { release } = holdParts(cloud, 4);
    const requestId = cloud.requestImport("a.mcap");
    await cloud.until("three parts are durable", () => cloud.uploads.durable(requestId) === 3);
    rmSync(path);
    release();
    await cloud.until("the file is gone", () => cloud.files.size === 0);
    assert.deepEqual(cloud.failures, [{ requestId, code: "FileGone" }]);
    assert.equal(cloud.uploads.stored.size, 0);
  });
});

test("a file that is renamed during its upload is delivered all the same", async () => {
  await withUpload(async (scene) => {
    const { cloud, path } = scene;
    const { release } = holdParts(cloud, 4);
    const requestId = cloud.requestImport("a.mcap");
    await cloud.until("three parts are durable", () => cloud.uploads.durable(requestId) === 3);
    renameSync(path, `${path}-renamed.mcap`);
    release();
    await untilStored(scene);
    assert.deepEqual(cloud.failures, []);
  });
});

test("a cloud that does not know SHA-256 gets its parts with MD5", async () => {
  await withUpload(async (scene) => {
    scene.cloud.uploads.takesSha256 = false;
    scene.cloud.requestImport("a.mcap");
    await untilStored(scene);
    assert.deepEqual(scene.cloud.failures, []);
  });
});

test("a part that the cloud holds differently from the file proves a change that nothing else shows", async () => {
  await withUpload(async ({ cloud, versionId }) => {
    cloud.uploads.corruptPart = 2;
    const requestId = cloud.requestImport("a.mcap");
    await cloud.until("the request has failed", () => cloud.failures.length > 0);
    assert.deepEqual(cloud.failures, [{ requestId, code: "FileChanged" }]);
    await cloud.until("there is a new version", () => cloud.at("a.mcap") !== undefined && !cloud.files.has(versionId));
    assert.equal(cloud.uploads.stored.size, 0);
  });
});

test("a cancelled request stops its upload, and the file waits to be asked for again", async () => {
  await withUpload(async (scene) => {
    const { cloud, agent } = scene;
    const { release } = holdParts(cloud, 4);
    const requestId = cloud.requestImport("a.mcap");
    await agent.until("it is uploading", ({ files, transfers }) => files.uploading === 1 && transfers.length === 1);
    cloud.cancel(requestId);
    await agent.until("it has stopped", ({ files, transfers }) => files.reported === 1 && transfers.length === 0);
    release();
    cloud.requestImport("a.mcap");
    await untilStored(scene);
  });
});

test("a disabled device uploads nothing, says so, and goes on once it is enabled", async () => {
  await withUpload(async (scene) => {
    const { cloud, agent } = scene;
    const { release } = holdParts(cloud, 4);
    cloud.requestImport("a.mcap");
    await agent.until("it is uploading", ({ transfers }) => transfers.length === 1);
    cloud.settings = { ...cloud.settings, enabled: false };
    cloud.changed();
    const { problems } = await agent.until("it has stopped", ({ transfers }) => transfers.length === 0);
    assert.deepEqual(
      problems.map(({ code }) => code),
      ["DeviceDisabled"],
    );
    release();
    cloud.settings = { ...cloud.settings, enabled: true };
    cloud.changed();
    await untilStored(scene);
  });
});

test("a full store is named, and the upload comes through once there is room", async () => {
  await withUpload(async (scene) => {
    const { cloud, agent } = scene;
    cloud.fault = ({ name }) => (name === "put" ? { kind: "answer", status: 507, code: "StorageFull" } : undefined);
    cloud.requestImport("a.mcap");
    await agent.until("it is named", ({ problems }) => problems.some(({ code }) => code === "CloudStorageFull"));
    cloud.fault = () => undefined;
    await untilStored(scene);
    await agent.until("it is over", ({ problems }) => problems.length === 0);
  });
});

test("a quota that is reached is named, and the upload comes through once there is room", async () => {
  await withUpload(async (scene) => {
    const { cloud, agent } = scene;
    cloud.fault = ({ name }) =>
      name === "openUpload" ? { kind: "answer", status: 507, code: "QuotaReached" } : undefined;
    cloud.requestImport("a.mcap");
    const { connection } = await agent.until("it is named", ({ problems }) =>
      problems.some(({ code }) => code === "CloudQuotaReached"),
    );
    assert.equal(connection.state, "connected");
    cloud.fault = () => undefined;
    await untilStored(scene);
    await agent.until("it is over", ({ problems }) => problems.length === 0);
  });
});

test("with one slot the higher priority goes first, then the older request; a failing file lets the others pass", async () => {
  await withUpload(
    async ({ device, cloud }) => {
      for (const [seed, path] of ["b.mcap", "c.mcap", "bad.mcap"].entries())
        await writeRecording(device, path, { seed });
      await cloud.until("all are reported", () => cloud.files.size === 4);
      const bad = cloud.at("bad.mcap")!.versionId;
      const openings: string[] = [];
      cloud.settings = { ...cloud.settings, enabled: false };
      const badRequest = cloud.requestImport("bad.mcap", { priority: 9 });
      const paths = [
        cloud.requestImport("b.mcap"),
        cloud.requestImport("c.mcap"),
        cloud.requestImport("a.mcap", { priority: 5 }),
      ];
      cloud.fault = ({ name, path }) => {
        if (name === "openUpload") openings.push(path.split("/").at(-2)!);
        const isBad = name === "openUpload" && path.includes(badRequest);
        return isBad ? { kind: "answer", status: 503, code: "Unavailable", retryAfterSeconds: 60 } : undefined;
      };
      cloud.settings = { ...cloud.settings, enabled: true };
      cloud.changed();
      await cloud.until("the others are stored", () => cloud.uploads.stored.size === 3);
      assert.equal(cloud.uploads.stored.has(bad), false);
      assert.deepEqual(openings, [badRequest, paths[2], paths[0], paths[1]]);
    },
    { uploadConcurrency: "1" },
  );
});

test("at most three parts of a file are on their way at once, of two files six", async () => {
  await withUpload(async ({ device, cloud }) => {
    for (const [seed, path] of ["b.mcap", "c.mcap"].entries())
      await writeRecording(device, path, { seed, sizeBytes: 8 * PART_BYTES });
    await cloud.until("all are reported", () => cloud.files.size === 3);
    const { promise, resolve } = Promise.withResolvers<void>();
    let waiting = 0;
    cloud.gate = ({ name }) => {
      if (name !== "put") return undefined;
      if (++waiting === 6) setTimeout(resolve, 100); // This leaves time for a seventh part, which must not come.
      return promise;
    };
    let most = 0;
    promise.then(() => {
      most = waiting;
    });
    for (const path of ["a.mcap", "b.mcap", "c.mcap"]) cloud.requestImport(path);
    await cloud.until("all are stored", () => cloud.uploads.stored.size === 3);
    assert.equal(most, 6);
  });
});
