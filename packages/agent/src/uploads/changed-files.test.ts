import assert from "node:assert/strict";
import { closeSync, openSync, renameSync, rmSync, statSync, utimesSync, writeSync } from "node:fs";
import { test } from "node:test";
import { holdParts, untilStored, withUpload } from "../testing/upload-scene.ts";

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
