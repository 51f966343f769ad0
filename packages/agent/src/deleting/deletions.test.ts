import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { DeletionReason } from "@downlink/protocol";
import { TRASH_NAME } from "../files/scan.ts";
import { openInventory } from "../inventory/inventory.ts";
import { openDatabase } from "../state/database.ts";
import {
  type DeletionScene,
  hasProblem,
  importFile,
  setDevice,
  untilTaken,
  withDevice,
} from "../testing/deletion-scene.ts";
import { writeRecording } from "../testing/recordings.ts";
import type { Device } from "../testing/run-daemon.ts";
import { findTrash, makeTrash } from "./trash.ts";

// Each test waits until the files are two seconds old, because before that no hash proves anything.
describe("deletions that the cloud's settings ask for", { concurrency: 6 }, () => {
  testDeletionAfterImport();
  testRepair();
  testWaitingForBackup();
  testRetention();
});

function testDeletionAfterImport(): void {
  test("an imported file is deleted if the device is set so: with the hash of the bytes on the disk, and reported with the reason", async () => {
    await withDevice({ files: ["a.mcap", "b.mcap"] }, async ({ cloud, agent, pathOf, device }) => {
      setDevice(cloud, { autoDeleteAfterImport: true });
      const sha256 = createHash("sha256")
        .update(readFileSync(pathOf("a.mcap")))
        .digest("hex");
      const versionId = await importFile(cloud, "a.mcap");
      await cloud.until("the deletion is reported", () => cloud.deleted.get(versionId) === "imported");
      assert.deepEqual(cloud.permits.asked, [{ versionId, sha256, reason: "imported" }]);
      assert.equal(existsSync(pathOf("a.mcap")), false);
      assert.ok(existsSync(pathOf("b.mcap")));
      assert.deepEqual(readdirSync(join(device.root, TRASH_NAME)), []);
      const { deletions, health } = await agent.status();
      assert.deepEqual([deletions.deletedFiles, health], [1, "healthy"]);
      assert.deepEqual(
        deletions.last.map(({ path, reason }) => ({ path, reason })),
        [{ path: "a.mcap", reason: "imported" }],
      );
    });
  });

  test("nothing is deleted without a setting for it, nor on a disabled device", async () => {
    await withDevice({ files: ["a.mcap", "b.mcap"] }, async ({ cloud, agent, pathOf }) => {
      await importFile(cloud, "a.mcap");
      setDevice(cloud, { autoDeleteAfterImport: true, retainRecordingsSeconds: 1, enabled: false });
      await agent.until("it is disabled", hasProblem("DeviceDisabled"));
      const { storage } = await agent.status();
      await agent.until("it scanned since", (status) => status.storage.lastScanAt !== storage.lastScanAt);
      assert.deepEqual(cloud.permits.asked, []);
      assert.ok(existsSync(pathOf("a.mcap")) && existsSync(pathOf("b.mcap")));
    });
  });
}

function testRepair(): void {
  test("a permit is not used for a file that the cloud asks for again, because what it stored was found damaged", async () => {
    await withDevice({ files: ["a.mcap"] }, async ({ cloud, pathOf }) => {
      const versionId = await importFile(cloud, "a.mcap");
      cloud.uploads.stored.delete(versionId);
      let repair: string | undefined;
      const countPolls = () => cloud.calls.filter(({ name }) => name === "work").length;
      cloud.gate = async ({ name }) => {
        if (name !== "askPermits" || repair !== undefined) return;
        const polls = countPolls();
        repair = cloud.requestImport("a.mcap");
        await cloud.until("the agent knows of the request", () => countPolls() > polls);
      };
      setDevice(cloud, { autoDeleteAfterImport: true });
      await cloud.until("it is sent again", () => cloud.uploads.stored.has(versionId));
      assert.ok(existsSync(pathOf("a.mcap")));
      cloud.advance(repair!, "imported");
      await cloud.until("the deletion is reported", () => cloud.deleted.get(versionId) === "imported");
    });
  });
}

function testWaitingForBackup(): void {
  test("an imported file that no backup holds yet waits, and the status says so, as long as the device is set to delete it", async () => {
    await withDevice({ files: ["a.mcap"] }, async ({ cloud, agent, pathOf }) => {
      const text = "no backup of the control plane holds it yet";
      cloud.permits.refuse = () => ({ code: "SafetyPeriod", text });
      setDevice(cloud, { autoDeleteAfterImport: true });
      const versionId = await importFile(cloud, "a.mcap");
      const { deletions, health } = await agent.until("it waits", (status) => status.deletions.waiting.files === 1);
      assert.deepEqual([deletions.waiting.text, health], [text, "healthy"]);
      assert.ok(existsSync(pathOf("a.mcap")));
      setDevice(cloud, { autoDeleteAfterImport: false });
      await agent.until("it waits no more", (status) => status.deletions.waiting.files === 0);
      cloud.permits.refuse = () => undefined;
      setDevice(cloud, { autoDeleteAfterImport: true });
      await cloud.until("it is deleted", () => cloud.deleted.get(versionId) === "imported");
    });
  });
}

function testRetention(): void {
  test("files older than the retention are deleted, imported or not; the deletion of a file that the cloud finds too young is requested later", async () => {
    const settings = { retainRecordingsSeconds: 1, enabled: false };
    await withDevice({ files: ["a.mcap", "b.mcap"], settings }, async ({ cloud, agent, pathOf }) => {
      const young = cloud.at("b.mcap")!.versionId;
      cloud.permits.refuse = ({ versionId }) =>
        versionId === young
          ? { code: "TooYoung", text: "reported yesterday", notBefore: BigInt(Date.now() + 86_400_000) * 1_000_000n }
          : undefined;
      setDevice(cloud, { enabled: true });
      await cloud.until("the old one is gone", () => cloud.deleted.size === 1);
      assert.ok(existsSync(pathOf("b.mcap")) && !existsSync(pathOf("a.mcap")));
      await agent.until("all have been looked at", ({ deletions }) => deletions.planned.length === 0);
      assert.equal(cloud.permits.asked.filter(({ versionId }) => versionId === young).length, 1);
      assert.equal((await agent.status()).files.reported, 1);
    });
  });

  test("a shortened retention deletes nothing for its age within a day, and the status says until when", async () => {
    const settings = { retainRecordingsSeconds: 1_000_000_000 };
    await withDevice({ files: ["a.mcap"], settings }, async ({ cloud, agent, pathOf }) => {
      setDevice(cloud, { retainRecordingsSeconds: 1 });
      const { deletions } = await agent.until("it waits", (status) => status.deletions.heldUntil !== null);
      const hours = (Date.parse(deletions.heldUntil!) - Date.now()) / 3_600_000;
      assert.ok(hours > 23.9 && hours <= 24, `${hours} h`);
      assert.deepEqual(cloud.permits.asked, []);
      assert.ok(existsSync(pathOf("a.mcap")));
    });
  });
}

test("a file whose mode changes while the permit is on its way is not deleted by it, and stays the version that it is", async () => {
  await withDevice({ files: ["a.mcap"] }, async ({ cloud, agent, pathOf }) => {
    const path = pathOf("a.mcap");
    setDevice(cloud, { autoDeleteAfterImport: true });
    let isChanged = false;
    cloud.gate = ({ name }) => {
      if (name === "askPermits" && !isChanged) chmodSync(path, 0o600);
      isChanged ||= name === "askPermits";
      return undefined;
    };
    const versionId = await importFile(cloud, "a.mcap");
    await cloud.until("a permit is asked for", () => isChanged);
    await agent.until("it is back", ({ files }) => files.imported === 1);
    assert.ok(existsSync(path));
    assert.deepEqual([cloud.deleted.size, cloud.at("a.mcap")?.versionId], [0, versionId]);
  });
});

interface Rule extends Pick<Parameters<typeof withDevice>[0], "flags" | "settings"> {
  readonly isImported?: boolean;
  allow(scene: DeletionScene): unknown;
}

const rules: Readonly<Record<DeletionReason, Rule>> = {
  imported: { isImported: true, allow: ({ cloud }) => setDevice(cloud, { autoDeleteAfterImport: true }) },
  retention: {
    settings: { retainRecordingsSeconds: 1, enabled: false },
    allow: ({ cloud }) => setDevice(cloud, { enabled: true }),
  },
  space: { flags: { maxDisk: "1kB" }, isImported: true, allow: ({ agent }) => agent.confirm() },
  prune: { flags: { maxDisk: "1kB", prunesUnimported: "true" }, allow: ({ agent }) => agent.confirm() },
};

describe("files that turn out to differ from what the agent assumed", { concurrency: 6 }, () => {
  testLostState();
  testRefusedPermits();
  testChangesBeforeTheDeletion();
});

function testLostState(): void {
  test("an agent that lost its state learns in its listing which files were imported, proves it by hashing, and deletes them", async () => {
    await withDevice({ files: ["a.mcap"] }, async ({ cloud, agent, device, start, pathOf }) => {
      await importFile(cloud, "a.mcap");
      await agent.stop();
      for (const name of readdirSync(device.stateDir).filter((file) => file.startsWith("agent.db")))
        rmSync(join(device.stateDir, name));
      cloud.leaseMs = 0;
      cloud.isImported = ({ path }) => path === "a.mcap";
      setDevice(cloud, { autoDeleteAfterImport: true });
      await using _again = start();
      await cloud.until("it is deleted", () => [...cloud.deleted.values()].includes("imported"));
      assert.equal(existsSync(pathOf("a.mcap")), false);
      assert.match(cloud.permits.asked[0]!.sha256!, /^[0-9a-f]{64}$/);
    });
  });

  test("a file that a crash left in the trash, and that is requested later, is put back before a scan takes it for gone", async () => {
    await withDevice({ files: ["a.mcap"] }, async ({ cloud, agent, device, start, pathOf }) => {
      await agent.stop();
      const bytes = readFileSync(pathOf("a.mcap"));
      const { versionId } = cloud.at("a.mcap")!;
      await leaveInTrash(device, versionId);
      cloud.requestImport("a.mcap");
      await using _again = start();
      await cloud.until("it is imported", () => cloud.uploads.stored.has(versionId));
      assert.deepEqual(cloud.uploads.stored.get(versionId), bytes);
      assert.deepEqual(cloud.failures, []);
    });
  });
}

function testRefusedPermits(): void {
  test("a file that differs from the imported one is kept, and the status says so", async () => {
    await withDevice({ files: ["a.mcap"] }, async ({ cloud, agent, pathOf }) => {
      cloud.permits.refuse = () => ({ code: "HashDiffers", text: "it has another hash" });
      setDevice(cloud, { autoDeleteAfterImport: true });
      await importFile(cloud, "a.mcap");
      const status = await agent.until("it shows the problem", hasProblem("DeleteRefused"));
      assert.match(status.problems[0]!.detail, /a\.mcap: it has another hash/);
      assert.equal(status.files.imported, 1);
      assert.ok(existsSync(pathOf("a.mcap")));
    });
  });

  test("a file whose imported data was deleted in the cloud is kept, like one that was never imported", async () => {
    await withDevice({ files: ["a.mcap"] }, async ({ cloud, agent, pathOf }) => {
      cloud.permits.refuse = () => ({ code: "ImportNotComplete", text: "its data was deleted" });
      setDevice(cloud, { autoDeleteAfterImport: true });
      await importFile(cloud, "a.mcap");
      await agent.until("it is not imported any more", ({ files }) => files.reported === 1);
      assert.ok(existsSync(pathOf("a.mcap")));
    });
  });
}

function testChangesBeforeTheDeletion(): void {
  for (const [rule, { flags, settings, isImported = false, allow }] of Object.entries(rules))
    test(`whatever was rewritten with its old times is not deleted as the version that it was: ${rule}`, async () => {
      await withDevice({ files: ["a.mcap"], flags, settings }, async (scene) => {
        const { cloud, pathOf } = scene;
        const { versionId } = cloud.at("a.mcap")!;
        cloud.permits.refuse = () => ({ code: "SafetyPeriod", text: "not yet" });
        if (isImported) await importFile(cloud, "a.mcap");
        await allow(scene);
        await cloud.until("a permit is asked for", () => cloud.permits.asked.length > 0);
        rewriteInPlace(pathOf("a.mcap"));
        await untilTaken(scene, "a.mcap");
        cloud.permits.refuse = () => undefined;
        cloud.changed();
        await cloud.until("the version is gone", () => !cloud.files.has(versionId));
        assert.equal(cloud.deleted.has(versionId), false);
      });
    });

  for (const [how, replace] of [
    ["is replaced by a rename", (path: string) => renameSync(`${path}.new`, path)],
    ["is rewritten in place with its old times", (path: string) => rewriteInPlace(path)],
    ["is removed by somebody else", (path: string) => rmSync(path)],
  ] as const) {
    test(`a file that ${how} while the permit is on its way is not deleted by it`, async () => {
      await withDevice({ files: ["a.mcap"] }, async ({ cloud, device, pathOf }) => {
        const path = pathOf("a.mcap");
        await writeRecording(device, "a.mcap.new", { seed: 99 });
        setDevice(cloud, { autoDeleteAfterImport: true });
        let after: Buffer | undefined;
        cloud.gate = ({ name }) => {
          if (name !== "askPermits" || after !== undefined) return undefined;
          replace(path);
          after = existsSync(path) ? readFileSync(path) : Buffer.of();
          return undefined;
        };
        const versionId = await importFile(cloud, "a.mcap");
        await cloud.until("the version is gone", () => after !== undefined && !cloud.files.has(versionId));
        assert.equal(cloud.deleted.size, 0);
        if (how.includes("removed")) return;
        assert.deepEqual(readFileSync(path), after);
        await cloud.until("what is there is reported", () => cloud.at("a.mcap") !== undefined);
      });
    });
  }
}

test("a permit of a cloud that turns out to be another one deletes nothing before that cloud knows all files", async () => {
  await withDevice({ files: ["a.mcap"] }, async ({ cloud, pathOf }) => {
    const { listings } = cloud;
    cloud.isImported = () => true; // the other cloud reports the same
    let wasThere: boolean | undefined;
    cloud.gate = ({ name }) => {
      if (name === "askPermits" && cloud.incarnation === "1") cloud.incarnation = "2";
      else if (name === "report") wasThere ??= cloud.incarnation === "2" ? existsSync(pathOf("a.mcap")) : undefined;
      return undefined;
    };
    setDevice(cloud, { autoDeleteAfterImport: true });
    const versionId = await importFile(cloud, "a.mcap");
    await cloud.until("it is deleted with a later permit", () => cloud.deleted.get(versionId) === "imported");
    assert.equal(wasThere, true, "the first report to the other cloud contains the file");
    assert.equal(cloud.listings, listings + 1);
  });
});

/** Leaves the file as if the agent had been killed between two steps of a deletion. */
async function leaveInTrash({ root, stateDir }: Device, versionId: string): Promise<void> {
  const { database } = openDatabase(stateDir);
  const inventory = openInventory(database);
  const file = inventory.version(versionId)!;
  inventory.change([
    { do: "intend", versionId, reason: "prune", was: file.identity },
    { do: "permit", versionId, permitId: "prm_1" },
  ]);
  database.close();
  const { directory, entry } = await findTrash(root, file);
  await makeTrash(directory);
  renameSync(join(root, file.path), entry);
}

/** Writes other bytes and sets the time back to the nanosecond, which `utimesSync` cannot. */
function rewriteInPlace(path: string): void {
  execFileSync("touch", ["-r", path, `${path}.times`]);
  writeFileSync(path, Buffer.alloc(statSync(path).size, 7), { flag: "r+" });
  execFileSync("touch", ["-r", `${path}.times`, path]);
}
