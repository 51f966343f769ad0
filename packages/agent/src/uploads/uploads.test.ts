import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fault } from "../testing/fake-http.ts";
import { writeRecording } from "../testing/recordings.ts";
import { faultOnce, holdParts, isPart, PART_BYTES, untilStored, withUpload } from "../testing/upload-scene.ts";

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

test("a cloud that does not know SHA-256 gets its parts with MD5", async () => {
  await withUpload(async (scene) => {
    scene.cloud.uploads.takesSha256 = false;
    scene.cloud.requestImport("a.mcap");
    await untilStored(scene);
    assert.deepEqual(scene.cloud.failures, []);
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
