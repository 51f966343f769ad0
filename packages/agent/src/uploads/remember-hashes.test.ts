import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { test } from "node:test";
import { FileMovedError } from "../files/open-tracked.ts";
import { openInventory } from "../inventory/inventory.ts";
import { openDatabase } from "../state/database.ts";
import { systemClock } from "../system/clock.ts";
import { makeDevice } from "../testing/run-daemon.ts";
import { rememberHashes } from "./remember-hashes.ts";
import { createUploadMemories } from "./upload-memories.ts";

test("an upload whose card goes while its last bytes are on their way is not completed by other bytes", () => {
  using device = makeDevice();
  mkdirSync(device.stateDir);
  using database = openDatabase(device.stateDir).database;
  const inventory = openInventory(database);
  const identity = { device: 0, inode: 1, sizeBytes: 5, mtimeNs: 1n, ctimeNs: 1n };
  inventory.change([{ do: "track", path: "a.mcap", identity }]);
  const { versionId } = inventory.at("a.mcap")!;
  inventory.change([
    { do: "event", versionId, event: "finished", findings: { headTailSha256: "0".repeat(64), item: "{}" } },
    { do: "noteHash", versionId, sha256: "1".repeat(64), of: identity, isProof: true },
  ]);
  const file = inventory.at("a.mcap")!;
  const { onHashed } = rememberHashes(
    {
      clock: systemClock,
      inventory,
      memories: createUploadMemories(systemClock),
      showsChanges: () => Promise.resolve(true),
    },
    { requestId: "r", file, storage: { root: device.root, device: 0n } },
  );
  onHashed({ sha256: "1".repeat(64), begunNs: 0n });
  inventory.swapCards({ out: "A", into: "B", atNs: 1n });
  assert.throws(() => onHashed({ sha256: "2".repeat(64), begunNs: 0n }), FileMovedError);
  assert.deepEqual([inventory.size, inventory.contentHash(versionId)], [1, "1".repeat(64)]);
});
