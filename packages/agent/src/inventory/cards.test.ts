import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../state/database.ts";
import { makeStateDir } from "../testing/state-dir.ts";
import type { FileIdentity } from "./identity.ts";
import { openInventory } from "./inventory.ts";

const huge = 2n ** 64n - 1n;
const identity: FileIdentity = { device: huge, inode: huge - 1n, sizeBytes: 5, mtimeNs: -7n, ctimeNs: 2n ** 63n - 1n };
const headTailSha256 = "0".repeat(64);

test("what is away with its card leaves its path free, takes in what the cloud says, and comes back as what it was, also after reopening", (t) => {
  const stateDir = makeStateDir(t);
  const open = () => openInventory(openDatabase(stateDir).database);
  const inventory = open();
  inventory.change([
    { do: "track", path: "a.mcap", identity },
    { do: "track", path: "b.mcap", identity },
  ]);
  const [a, b] = ["a.mcap", "b.mcap"].map((path) => inventory.at(path)!.versionId);
  const findings = { headTailSha256, item: "{}" };
  inventory.change([a, b].map((versionId) => ({ do: "event", versionId: versionId!, event: "finished", findings })));
  inventory.change([{ do: "intend", versionId: b!, reason: "prune", was: inventory.version(b!)!.identity }]);
  inventory.swapCards({ out: "A", into: "B", atNs: 5n });
  inventory.change([{ do: "track", path: "a.mcap", identity }]);
  const onB = inventory.at("a.mcap")!.versionId;
  for (const one of [inventory, open()]) {
    const there = one.version(a!)!;
    assert.deepEqual(
      [there.path, there.state, there.away],
      ["a.mcap", "away", { card: "A", before: "indexed", sinceNs: 5n }],
    );
    assert.deepEqual([one.at("a.mcap")?.versionId, one.at("b.mcap"), one.intents()], [onB, undefined, []]);
    assert.deepEqual([one.countByState(), [...one.due()], one.isAway("A")], [{ away: 2, seen: 1 }, [a, b], true]);
    assert.equal(one.findings(a!)?.headTailSha256, headTailSha256);
  }
  inventory.change([
    { do: "confirm", versionId: a!, as: "indexed", revision: inventory.version(a!)!.revision },
    { do: "event", versionId: a!, event: "wanted" },
    { do: "event", versionId: a!, event: "uploadStarted" },
    { do: "keep", versionId: b! },
    { do: "noteDeleted", versionId: b!, atNs: 1n },
  ]);
  assert.equal(open().version(a!)?.away?.before, "requested");
  inventory.swapCards({ out: "B", into: undefined, atNs: 6n });
  assert.deepEqual([inventory.hasFilesHere(), inventory.isAway("B")], [false, true]);
  inventory.swapCards({ out: "B", into: "A", atNs: 7n });
  for (const one of [inventory, open()]) {
    assert.deepEqual(
      [one.at("a.mcap")?.versionId, one.at("a.mcap")?.state, one.at("a.mcap")?.away],
      [a, "requested", undefined],
    );
    assert.deepEqual([one.at("b.mcap")?.state, one.intents().length], ["deleting", 1]);
    assert.deepEqual([one.version(onB)?.away?.card, one.isAway("A"), one.isAway("B")], ["B", false, true]);
  }
});

test("nothing that is read or found while a card is out is held against what is on it, and nothing is proven by it that was not", (t) => {
  const stateDir = makeStateDir(t);
  const inventory = openInventory(openDatabase(stateDir).database);
  inventory.change([{ do: "track", path: "a.mcap", identity }]);
  const { versionId, identity: was } = inventory.at("a.mcap")!;
  inventory.change([{ do: "event", versionId, event: "finished", findings: { headTailSha256, item: "{}" } }]);
  inventory.change([{ do: "noteHash", versionId, sha256: "1".repeat(64), of: was, isProof: true }]);
  inventory.swapCards({ out: "A", into: "B", atNs: 5n });
  const touched = { ...identity, mtimeNs: 8n, ctimeNs: 9n };
  inventory.change([
    { do: "event", versionId, event: "changed", was },
    { do: "event", versionId, event: "changed", identity: touched },
    { do: "event", versionId, event: "vanished" },
    { do: "renew", versionId, was, identity: touched },
    { do: "move", versionId, path: "b.mcap", identity: touched },
    { do: "noteHash", versionId, sha256: "2".repeat(64), of: was, isProof: true },
  ]);
  const away = inventory.version(versionId)!;
  assert.deepEqual([away.path, away.identity, away.away?.before], ["a.mcap", identity, "indexed"]);
  assert.deepEqual([inventory.size, inventory.removals().size, inventory.hasFilesHere()], [1, 0, false]);
  inventory.swapCards({ out: "B", into: "A", atNs: 6n });
  const back = inventory.at("a.mcap")!;
  assert.equal(inventory.hash(back), "1".repeat(64), "with the ctime of old, what was proven of it is proven");
  inventory.change([{ do: "renew", versionId, was: back.identity, identity: { ...identity, inode: 77 } }]);
  assert.equal(inventory.hash(inventory.at("a.mcap")!), undefined, "as another entry it has to be read again");
  assert.equal(inventory.contentHash(versionId), "1".repeat(64));
});

test("ends of imports, why they count no more, and local requests reach what is away, and stay with it", (t) => {
  const stateDir = makeStateDir(t);
  const open = () => openInventory(openDatabase(stateDir).database);
  const inventory = open();
  inventory.change(["a", "b", "c"].map((name) => ({ do: "track", path: name, identity })));
  const [a, b, c] = ["a", "b", "c"].map((path) => inventory.at(path)!.versionId) as [string, string, string];
  const findings = { headTailSha256, item: "{}" };
  inventory.change([a, b, c].map((versionId) => ({ do: "event", versionId, event: "finished", findings })));
  inventory.change([
    { do: "event", versionId: b, event: "importDone" },
    { do: "intend", versionId: c, reason: "prune", was: identity },
  ]);
  inventory.swapCards({ out: "A", into: "B", atNs: 5n });
  const [copy, over] = ["DuplicateContent", "DataDeleted"].map((code) => ({ code, text: "it is so" }));
  inventory.change([
    { do: "event", versionId: a, event: "foundDuplicate", outcome: copy! },
    { do: "event", versionId: b, event: "importTakenBack", outcome: over! },
    { do: "requestImport", versionId: b },
    { do: "event", versionId: c, event: "wanted" },
  ]);
  for (const one of [inventory, open()]) {
    const lives = [a, b, c].map((versionId) => one.version(versionId)?.away?.before);
    assert.deepEqual(lives, ["duplicate", "reported", "requested"]);
    assert.deepEqual([one.outcome(a), one.outcome(b), one.localRequests()], [copy, over, [b]]);
  }
  inventory.change([{ do: "event", versionId: a, event: "wanted" }]);
  assert.equal(inventory.outcome(a), undefined, "what holds no more is forgotten beneath too");
  inventory.swapCards({ out: "B", into: "A", atNs: 6n });
  assert.deepEqual([inventory.at("a")?.state, inventory.at("b")?.state], ["requested", "reported"]);
  assert.deepEqual([inventory.at("c")?.state, inventory.intents()], ["requested", []], "what is wanted is not deleted");
});
