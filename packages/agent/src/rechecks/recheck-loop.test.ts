import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { test } from "node:test";
import { createBell } from "../bell.ts";
import { systemClock } from "../clock.ts";
import type { Suspect } from "../files/plan-scan.ts";
import { openDatabase } from "../inventory/database.ts";
import { openInventory } from "../inventory/inventory.ts";
import { createLog } from "../log.ts";
import { createProblemBoard } from "../problems.ts";
import { makeDevice } from "../testing/run-daemon.ts";
import { createRecheckBoard } from "./recheck-board.ts";
import { createRechecks } from "./recheck-loop.ts";

/** No file system takes it: looking at it fails as on a disk that is broken, for root too. */
const unreadable = `${"x".repeat(300)}.mcap`;

const clearNotes = {
  standingOf: () => "clear" as const,
  begin: () => ({ [Symbol.dispose]: () => undefined }),
  acquit: () => undefined,
};

test("a file that cannot be compared waits, and is another version once somebody waits for it: no request hangs for ever", async () => {
  using device = makeDevice();
  mkdirSync(device.stateDir);
  using database = openDatabase(device.stateDir).database;
  const inventory = openInventory(database);
  const was = { device: 0, inode: 1, sizeBytes: 1, mtimeNs: 1n, ctimeNs: 1n };
  inventory.change([{ do: "track", path: unreadable, identity: was }]);
  const { versionId } = inventory.at(unreadable)!;
  const findings = { headTailSha256: "0".repeat(64), item: "{}" };
  inventory.change([{ do: "event", versionId, event: "finished", findings }]);
  let isWanted = false;
  let failures = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() * 1000 };
  const board = createRecheckBoard({ clock, contentHash: () => undefined, settleTimeMs: 1, restlessAfterMs: 1e12 });
  const postpone = (id: string) => {
    failures = board.postpone(id);
    if (failures === 5) isWanted = true;
    return failures;
  };
  const problems = createProblemBoard(clock, () => undefined);
  const scanBell = createBell();
  const stop = new AbortController();
  const rechecks = createRechecks({
    ...{ clock, inventory, problems, rechecks: { ...board, postpone }, isWanted: () => isWanted },
    ...{ scanBell, reportBell: createBell(), workBell: createBell(), deleteBell: createBell() },
    log: createLog({ format: "json", level: "error", out: { write: () => true, on: () => undefined } }),
    storage: () => ({ root: device.root, device: 0n }),
    notes: clearNotes,
    hashStep: () => assert.fail("nothing was read"),
  });
  const suspect: Suspect = { file: inventory.version(versionId)!, identity: { ...was, mtimeNs: 2n, ctimeNs: 2n } };
  board.sync([suspect]);
  const ended = rechecks.run(stop.signal);
  await scanBell.wait(AbortSignal.timeout(10_000));
  stop.abort();
  await ended;
  assert.equal(failures, 5);
  assert.equal(inventory.removals().get(versionId)?.because, "changed");
  assert.deepEqual([inventory.at(unreadable)?.state, inventory.at(unreadable)?.identity], ["seen", suspect.identity]);
  assert.ok(problems.list().some(({ code }) => code === "FileUnreadable"));
});

test("a file whose card is out is not decided on by what is at its path now: it waits for its card", async () => {
  using device = makeDevice();
  mkdirSync(device.stateDir);
  using database = openDatabase(device.stateDir).database;
  const inventory = openInventory(database);
  const was = { device: 0, inode: 1, sizeBytes: 1, mtimeNs: 1n, ctimeNs: 1n };
  inventory.change([{ do: "track", path: "a.mcap", identity: was }]);
  const { versionId } = inventory.at("a.mcap")!;
  const findings = { headTailSha256: "0".repeat(64), item: "{}" };
  inventory.change([
    { do: "event", versionId, event: "finished", findings },
    { do: "event", versionId, event: "importDone" },
  ]);
  const board = createRecheckBoard({
    clock: systemClock,
    contentHash: () => undefined,
    settleTimeMs: 0,
    restlessAfterMs: 1e12,
  });
  board.sync([{ file: inventory.version(versionId)!, identity: { ...was, mtimeNs: 2n } }]);
  inventory.swapCards({ out: "A", into: "B", atNs: 1n });
  const scanBell = createBell();
  const stop = new AbortController();
  const rechecks = createRechecks({
    ...{ clock: systemClock, inventory, rechecks: board, isWanted: () => false, scanBell },
    ...{ reportBell: createBell(), workBell: createBell(), deleteBell: createBell() },
    problems: createProblemBoard(systemClock, () => undefined),
    log: createLog({ format: "json", level: "error", out: { write: () => true, on: () => undefined } }),
    storage: () => ({ root: device.root, device: 0n }),
    notes: clearNotes,
    hashStep: () => assert.fail("nothing was read"),
  });
  const ended = rechecks.run(stop.signal);
  await scanBell.wait(AbortSignal.timeout(10_000));
  stop.abort();
  await ended;
  assert.deepEqual([board.has(versionId), inventory.removals().size, inventory.at("a.mcap")], [false, 0, undefined]);
  assert.equal(inventory.version(versionId)?.away?.before, "imported");
});

test("content that ended the agent more than once while it was compared is another version, which is set aside by itself", async () => {
  using device = makeDevice();
  mkdirSync(device.stateDir);
  using database = openDatabase(device.stateDir).database;
  const inventory = openInventory(database);
  const was = { device: 0, inode: 1, sizeBytes: 1, mtimeNs: 1n, ctimeNs: 1n };
  inventory.change([{ do: "track", path: "a.mcap", identity: was }]);
  const { versionId } = inventory.at("a.mcap")!;
  const findings = { headTailSha256: "0".repeat(64), item: "{}" };
  inventory.change([{ do: "event", versionId, event: "finished", findings }]);
  const board = createRecheckBoard({
    ...{ clock: systemClock, contentHash: () => undefined },
    ...{ settleTimeMs: 0, restlessAfterMs: 1e12 },
  });
  const identity = { ...was, mtimeNs: 2n };
  board.sync([{ file: inventory.version(versionId)!, identity }]);
  const scanBell = createBell();
  const stop = new AbortController();
  const isPoison = (file: { identity: { mtimeNs: bigint } }) => file.identity.mtimeNs === 2n;
  const rechecks = createRechecks({
    ...{ clock: systemClock, inventory, rechecks: board, isWanted: () => false, scanBell },
    ...{ reportBell: createBell(), workBell: createBell(), deleteBell: createBell() },
    problems: createProblemBoard(systemClock, () => undefined),
    log: createLog({ format: "json", level: "error", out: { write: () => true, on: () => undefined } }),
    storage: () => ({ root: device.root, device: 0n }),
    notes: {
      standingOf: (file) => (isPoison(file) ? "setAside" : "clear"),
      begin: () => assert.fail("it is not looked at again"),
      acquit: () => undefined,
    },
    hashStep: () => assert.fail("nothing was read"),
  });
  const ended = rechecks.run(stop.signal);
  await scanBell.wait(AbortSignal.timeout(10_000));
  stop.abort();
  await ended;
  assert.equal(inventory.removals().get(versionId)?.because, "changed");
  assert.deepEqual([inventory.at("a.mcap")?.state, inventory.at("a.mcap")?.identity], ["seen", identity]);
});
