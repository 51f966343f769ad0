import assert from "node:assert/strict";
import { existsSync, linkSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { StatusDocument } from "../status/status-schema.ts";
import { importFile, withDevice } from "../testing/deletion-scene.ts";
import { writeRecording } from "../testing/recordings.ts";
import { makeDevice } from "../testing/run-daemon.ts";
import { createRunningClock } from "../testing/test-clock.ts";

const NEVER_IMPORTED = /2 were never imported, and DOWNLINK_PRUNE_UNIMPORTED is off/;

describe("deletions for space", { concurrency: 6 }, () => {
  testQuota();
  testNewLimit();
  testWaitingForBackup();
  testQuotaWithLimits();
});

function testQuota(): void {
  test("a quota deletes imported files, the oldest first, until it holds; the rest stays and is shown as a problem", async () => {
    const flags = { maxDisk: "60kB" }; // Only one of them fits.
    await withDevice({ files: ["a.mcap", "b.mcap"], flags }, async ({ cloud, agent, pathOf }) => {
      // Before both are indexed, the problem has other reasons.
      await agent.until("it shows a problem for both", ({ problems }) =>
        problems.some(({ code, detail }) => code === "QuotaExceeded" && NEVER_IMPORTED.test(detail)),
      );
      const versionId = await importFile(cloud, "b.mcap");
      await agent.confirm();
      await cloud.until("it is deleted", () => cloud.deleted.get(versionId) === "space");
      await agent.until("the quota holds", ({ problems }) => problems.length === 0);
      assert.ok(existsSync(pathOf("a.mcap")) && !existsSync(pathOf("b.mcap")));
    });
  });

  test("with PRUNE_UNIMPORTED a quota gives up files that were never imported, with a permit", async () => {
    const flags = { maxDisk: "60kB", prunesUnimported: "true" };
    await withDevice({ files: ["a.mcap", "b.mcap"], flags }, async ({ cloud, agent }) => {
      await agent.confirm();
      await cloud.until("one is deleted", () => cloud.deleted.size === 1);
      assert.deepEqual([...cloud.deleted.values()], ["prune"]);
      await agent.until("the other one stays", ({ files, problems }) => files.reported === 1 && problems.length === 0);
      assert.equal(cloud.permits.asked.length, 1);
    });
  });
}

function testNewLimit(): void {
  test("what a new limit would delete at once is shown and stays until the wait is over or confirmed, over a restart too", async () => {
    const flags = { maxDisk: "110kB", prunesUnimported: "true" }; // Two of them fit.
    await withDevice({ files: ["a.mcap", "b.mcap", "c.mcap"], flags }, async ({ cloud, agent, start, pathOf }) => {
      const isHeld = ({ deletions: { planned } }: StatusDocument) => planned.some(({ heldUntil }) => heldUntil);
      const before = await agent.until("it waits", isHeld);
      assert.deepEqual(
        before.deletions.planned.map(({ reason, files }) => ({ reason, files })),
        [{ reason: "prune", files: 1 }],
      );
      await agent.stop();
      await using again = start();
      const after = await again.until("it waits again", isHeld);
      const [end, laterEnd] = [before, after].map(({ deletions }) => Date.parse(deletions.planned[0]!.heldUntil!));
      assert.ok(Math.abs(laterEnd! - end!) < 1000, "the wait goes on, and does not begin again");
      const versionId = await importFile(cloud, "c.mcap");
      await again.until("the imported one would go instead", ({ deletions: { planned } }) =>
        isDeepStrictEqual(
          planned.map(({ reason }) => reason),
          ["space"],
        ),
      );
      assert.deepEqual(cloud.permits.asked, []);
      const shown = await again.confirm();
      assert.equal(shown.health, "healthy");
      await cloud.until("one is deleted", () => cloud.deleted.get(versionId) === "space");
      await again.until("nothing is planned any more", ({ deletions }) => deletions.planned.length === 0);
      assert.ok(existsSync(pathOf("a.mcap")) && existsSync(pathOf("b.mcap")));
    });
  });
}

function testWaitingForBackup(): void {
  test("an imported file that the cloud wants to be in a backup first stays, and the problem says so", async () => {
    const text = "no backup of the control plane holds it yet";
    await withDevice({ files: ["a.mcap"], flags: { maxDisk: "1kB" } }, async ({ cloud, agent, pathOf }) => {
      cloud.permits.refuse = () => ({ code: "SafetyPeriod", text });
      await importFile(cloud, "a.mcap");
      await agent.confirm();
      await agent.until("it shows the problem", ({ problems }) =>
        problems.some(
          ({ code, detail }) =>
            code === "QuotaExceeded" &&
            /: of the recordings 1 may not be deleted yet \(/.test(detail) &&
            detail.includes(text),
        ),
      );
      assert.ok(existsSync(pathOf("a.mcap")));
    });
  });
}

function testQuotaWithLimits(): void {
  test("content with another name is not deleted for space: that frees nothing", async () => {
    const flags = { maxDisk: "1kB", prunesUnimported: "true" };
    using outside = makeDevice();
    await withDevice({ files: [], flags }, async ({ cloud, agent, device, pathOf }) => {
      await writeRecording(outside, "x.mcap");
      linkSync(join(outside.root, "x.mcap"), pathOf("a.mcap"));
      await agent.confirm();
      const status = await agent.until("it shows the problem", ({ problems }) =>
        problems.some(({ code, detail }) => code === "QuotaExceeded" && /1 have another name/.test(detail)),
      );
      assert.equal(status.files.reported, 1);
      assert.ok(existsSync(join(device.root, "a.mcap")));
      assert.equal(cloud.deleted.size, 0);
    });
  });

  test("cut off from the cloud, only a quota with PRUNE_UNIMPORTED deletes, never a requested file, and the deletion is reported later", async () => {
    // Ten minutes pass in a second, of which 20 seconds count from one look to the next.
    const clock = createRunningClock({ pace: { uptimeMs: 600 } });
    const flags = { maxDisk: "60kB", prunesUnimported: "true" };
    await withDevice({ files: [], flags, clock }, async ({ cloud, agent, device, pathOf }) => {
      cloud.gate = ({ name }) => (name === "put" || name === "askPermits" ? new Promise(() => {}) : undefined);
      await writeRecording(device, "asked.mcap", { seed: 1 });
      await cloud.until("it is reported", () => cloud.at("asked.mcap") !== undefined);
      cloud.requestImport("asked.mcap");
      await agent.until("it is under way", ({ files }) => files.uploading === 1);
      await cloud.goAway();
      await writeRecording(device, "new.mcap", { seed: 2 });
      await agent.until("the new one is deleted", ({ deletions }) => deletions.deletedFiles === 1);
      assert.ok(existsSync(pathOf("asked.mcap")) && !existsSync(pathOf("new.mcap")));
      assert.deepEqual(cloud.deleted.size, 0);
    });
  });
}
