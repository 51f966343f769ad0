import assert from "node:assert/strict";
import { lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createProblemBoard } from "../diagnostics/problems.ts";
import { hashHeadAndTail } from "../indexing/head-tail.ts";
import { identityOf } from "../inventory/identity.ts";
import { openInventory } from "../inventory/inventory.ts";
import { createTurns } from "../loops/turns.ts";
import { openDatabase } from "../state/database.ts";
import { systemClock as clock } from "../system/clock.ts";
import { makeDevice } from "../testing/run-daemon.ts";
import { openTracked } from "./open-tracked.ts";
import { scanOnce } from "./scan-once.ts";
import { createYoungFiles } from "./young-files.ts";

// Some file systems leave ctime as it was, and give other inode numbers at each mount: then only the content tells two files apart.
for (const isSame of [true, false])
  test(`a file that looks like a missing one in all but its path is ${isSame ? "that version" : "another version"} by its content`, async () => {
    using device = makeDevice();
    mkdirSync(device.stateDir);
    writeFileSync(join(device.root, "b.mcap"), "some bytes");
    const storage = { root: device.root, device: lstatSync(device.root, { bigint: true }).dev };
    const identity = identityOf(lstatSync(join(device.root, "b.mcap"), { bigint: true }), storage.device);
    await using source = await openTracked(storage, "b.mcap", identity);
    const headTailSha256 = isSame ? await hashHeadAndTail(source) : "0".repeat(64);

    using database = openDatabase(device.stateDir).database;
    const inventory = openInventory(database);
    inventory.change([{ do: "track", path: "a.mcap", identity }]);
    const { versionId } = inventory.at("a.mcap")!;
    inventory.change([{ do: "event", versionId, event: "finished", findings: { headTailSha256, item: "{}" } }]);

    const context = {
      ...{ clock, inventory, problems: createProblemBoard(clock), treeTurns: createTurns() },
      young: createYoungFiles({ settleTimeMs: 0, incompleteAfterMs: 0, longestPauseMs: 0 }),
      storageRoot: { find: () => Promise.resolve(storage) },
      matches: (path: string) => path.endsWith(".mcap"),
      onScanned: () => {},
      noteSuspects: () => {},
    };
    const turn = { number: 1, storage, absent: new Set<string>(), signal: AbortSignal.timeout(60_000) };
    await scanOnce(context, turn);
    assert.equal(inventory.at("a.mcap"), undefined);
    assert.equal(inventory.at("b.mcap")!.versionId === versionId, isSame);
  });
