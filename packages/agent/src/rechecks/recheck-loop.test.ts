import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { test } from "node:test";
import { createLog } from "../diagnostics/log.ts";
import { createProblemBoard } from "../diagnostics/problems.ts";
import { openInventory } from "../inventory/inventory.ts";
import { createWakeSignal } from "../loops/wake-signal.ts";
import { openDatabase } from "../state/database.ts";
import { makeDevice } from "../testing/run-daemon.ts";
import { createRunningClock } from "../testing/test-clock.ts";
import { createRecheckBoard } from "./recheck-board.ts";
import { createRechecks } from "./recheck-loop.ts";

/** No file system takes this name: reading it fails as on a broken disk, for root too. */
const unreadable = `${"x".repeat(300)}.mcap`;

const clearNotes = {
  standingOf: () => "clear" as const,
  begin: () => ({ [Symbol.dispose]: () => undefined }),
  acquit: () => undefined,
};

type Parts = Parameters<typeof createRechecks>[0];

/** Makes a finished file that looks touched, and the loop that compares it. */
function openScene(path: string, { clock = createRunningClock(), settleTimeMs = 0 } = {}) {
  const stack = new DisposableStack();
  const device = stack.use(makeDevice());
  mkdirSync(device.stateDir);
  const inventory = openInventory(stack.use(openDatabase(device.stateDir).database));
  const was = { device: 0, inode: 1, sizeBytes: 1, mtimeNs: 1n, ctimeNs: 1n };
  inventory.change([{ do: "track", path, identity: was }]);
  const { versionId } = inventory.at(path)!;
  const findings = { headTailSha256: "0".repeat(64), item: "{}" };
  inventory.change([{ do: "event", versionId, event: "finished", findings }]);
  const board = createRecheckBoard({ clock, contentHash: () => undefined, settleTimeMs, restlessAfterMs: 1e12 });
  const identity = { ...was, mtimeNs: 2n, ctimeNs: 2n };
  const problems = createProblemBoard(clock, () => undefined);
  const run = async (given: Partial<Parts> = {}) => {
    const [scanSignal, stop] = [createWakeSignal(), new AbortController()];
    const rechecks = createRechecks({
      ...{ clock, inventory, problems, scanSignal, rechecks: board, isWanted: () => false, notes: clearNotes },
      ...{ reportSignal: createWakeSignal(), workSignal: createWakeSignal(), deleteSignal: createWakeSignal() },
      log: createLog({ format: "json", level: "error", out: { write: () => true, on: () => undefined } }),
      storage: () => ({ root: device.root, device: 0n }),
      hashStep: () => assert.fail("nothing was read"),
      ...given,
    });
    const ended = rechecks.run(stop.signal);
    await scanSignal.wait(AbortSignal.timeout(10_000));
    stop.abort();
    await ended;
  };
  return {
    ...{ inventory, board, problems, versionId, identity, run },
    suspect: () => board.sync([{ file: inventory.version(versionId)!, identity }]),
    [Symbol.dispose]: () => stack.dispose(),
  };
}

test("a file that cannot be compared waits, and is another version once somebody waits for it: no request hangs for ever", async () => {
  const clock = createRunningClock({ pace: { monotonicMs: 1000 } });
  using scene = openScene(unreadable, { clock, settleTimeMs: 1 });
  const { inventory, board, problems, versionId, identity } = scene;
  let isWanted = false;
  let failures = 0;
  const postpone = (id: string) => {
    failures = board.postpone(id);
    if (failures === 5) isWanted = true;
    return failures;
  };
  scene.suspect();
  await scene.run({ rechecks: { ...board, postpone }, isWanted: () => isWanted });
  assert.equal(failures, 5);
  assert.equal(inventory.removals().get(versionId)?.because, "changed");
  assert.deepEqual([inventory.at(unreadable)?.state, inventory.at(unreadable)?.identity], ["seen", identity]);
  assert.ok(problems.list().some(({ code }) => code === "FileUnreadable"));
});

test("a file whose card is out is not compared with what is at its path now: it waits for its card", async () => {
  using scene = openScene("a.mcap");
  const { inventory, board, versionId } = scene;
  inventory.change([{ do: "event", versionId, event: "importDone" }]);
  scene.suspect();
  inventory.swapCards({ out: "A", into: "B", atNs: 1n });
  await scene.run();
  assert.deepEqual([board.has(versionId), inventory.removals().size, inventory.at("a.mcap")], [false, 0, undefined]);
  assert.equal(inventory.version(versionId)?.away?.before, "imported");
});

test("content that ended the agent more than once while it was compared is another version, which is set aside", async () => {
  using scene = openScene("a.mcap");
  const { inventory, versionId, identity } = scene;
  const isPoison = (file: { identity: { mtimeNs: bigint } }) => file.identity.mtimeNs === identity.mtimeNs;
  scene.suspect();
  await scene.run({
    notes: {
      standingOf: (file) => (isPoison(file) ? "setAside" : "clear"),
      begin: () => assert.fail("it is not looked at again"),
      acquit: () => undefined,
    },
  });
  assert.equal(inventory.removals().get(versionId)?.because, "changed");
  assert.deepEqual([inventory.at("a.mcap")?.state, inventory.at("a.mcap")?.identity], ["seen", identity]);
});
