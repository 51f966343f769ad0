import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { planScan } from "../files/plan-scan.ts";
import { databasePath, openDatabase, openDatabaseToRead, SCHEMA_VERSION } from "../state/database.ts";
import { lockStateDir } from "../state/lock.ts";
import { openStateFacts } from "../state/state-facts.ts";
import type { FileIdentity } from "./identity.ts";
import { openInventory } from "./inventory.ts";

const huge = 2n ** 64n - 1n;
const identity: FileIdentity = { device: huge, inode: huge - 1n, sizeBytes: 5, mtimeNs: -7n, ctimeNs: 2n ** 63n - 1n };
const headTailSha256 = "0".repeat(64);

test("what was changed is the same after reopening, to the last bit of the identity", (t) => {
  const stateDir = makeStateDir(t);
  const before = openInventory(openDatabase(stateDir).database);
  before.change([{ do: "track", path: "a/ü\n.mcap", identity }]);
  const { versionId } = before.at("a/ü\n.mcap")!;
  const schemas = [{ sha256: "1".repeat(64), data: new Uint8Array([1, 2]) }];
  const findings = { headTailSha256, startNs: 1n, endNs: 2n, item: "{}" };
  before.change([{ do: "event", versionId, event: "finished", findings, schemas }]);
  const after = openInventory(openDatabase(stateDir).database);
  assert.deepEqual({ ...after.version(versionId), revision: 1 }, before.version(versionId));
  assert.deepEqual([...after.due()], [versionId]);
  assert.deepEqual(after.findings(versionId), { ...findings, reason: undefined });
  assert.deepEqual(after.schema("1".repeat(64)), new Uint8Array([1, 2]));
});

test("a change of what was indexed leaves a removal, and what is there now is another version", (t) => {
  const inventory = openInventory(openDatabase(makeStateDir(t)).database);
  inventory.change([{ do: "track", path: "a.mcap", identity }]);
  const { versionId } = inventory.at("a.mcap")!;
  inventory.change([{ do: "event", versionId, event: "finished", findings: { headTailSha256, item: "{}" } }]);
  inventory.change([{ do: "confirm", versionId, as: "indexed", revision: 1 }]);
  inventory.change([
    { do: "event", versionId, event: "changed" },
    { do: "track", path: "a.mcap", identity: { ...identity, ctimeNs: 1n } },
  ]);
  assert.deepEqual([...inventory.removals()], [[versionId, { reportedAs: "indexed", because: "changed" }]]);
  assert.notEqual(inventory.at("a.mcap")?.versionId, versionId);
  assert.equal(inventory.version(versionId), undefined);
});

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

test("a file that was never reported leaves no removal; one that may have been reported does", (t) => {
  const inventory = openInventory(openDatabase(makeStateDir(t)).database);
  inventory.change([
    { do: "track", path: "seen.mcap", identity },
    { do: "track", path: "settling.mcap", identity },
  ]);
  const settling = inventory.at("settling.mcap")!.versionId;
  inventory.change([{ do: "event", versionId: settling, event: "unfinished" }]);
  inventory.change([...inventory.files()].map(({ versionId }) => ({ do: "event", versionId, event: "vanished" })));
  assert.deepEqual([...inventory.removals().keys()], [settling]);
  assert.equal(inventory.size, 0);
});

test("an acknowledgement of an older revision leaves the newer one due", (t) => {
  const inventory = openInventory(openDatabase(makeStateDir(t)).database);
  inventory.change([{ do: "track", path: "a.mcap", identity }]);
  const { versionId } = inventory.at("a.mcap")!;
  inventory.change([{ do: "event", versionId, event: "unfinished" }]);
  const sent = inventory.version(versionId)!.revision;
  inventory.change([{ do: "event", versionId, event: "finished", findings: { headTailSha256, item: "{}" } }]);
  inventory.change([{ do: "confirm", versionId, as: "settling", revision: sent }]);
  assert.deepEqual([...inventory.due()], [versionId]);
  assert.equal(inventory.version(versionId)?.state, "indexed");
  inventory.change([{ do: "confirm", versionId, as: "indexed", revision: sent + 1 }]);
  assert.deepEqual([...inventory.due()], []);
  assert.equal(inventory.version(versionId)?.state, "reported");
});

test("a decision on a file that has changed since has no effect, and a taken path is not tracked twice", (t) => {
  const inventory = openInventory(openDatabase(makeStateDir(t)).database);
  inventory.change([{ do: "track", path: "a.mcap", identity }]);
  const file = inventory.at("a.mcap")!;
  inventory.change([
    { do: "event", versionId: file.versionId, event: "changed", identity: { ...identity, sizeBytes: 6 } },
  ]);
  inventory.change([
    { do: "event", versionId: file.versionId, event: "vanished", was: file.identity },
    { do: "track", path: "a.mcap", identity },
  ]);
  assert.equal(inventory.at("a.mcap")?.identity.sizeBytes, 6);
  assert.equal(inventory.size, 1);
});

test("with a full disk a change fails as a whole and nothing of it is seen; with room again it goes through", (t) => {
  const { database } = openDatabase(makeStateDir(t));
  const inventory = openInventory(database);
  const pages = Number(database.prepare("PRAGMA page_count").get()?.page_count);
  database.exec(`PRAGMA max_page_count = ${pages}`);
  const steps = Array.from({ length: 500 }, (_, n) => ({ do: "track" as const, path: `${n}.mcap`, identity }));
  assert.throws(() => inventory.change(steps), { errcode: 13 });
  assert.equal(inventory.size, 0);
  database.exec("PRAGMA max_page_count = 1000000");
  inventory.change(steps);
  assert.equal(inventory.size, 500);
});

test("a commit is on the disk when it returns, as a power cut asks for", (t) => {
  const stateDir = makeStateDir(t);
  using database = openDatabase(stateDir).database;
  assert.equal(database.prepare("PRAGMA synchronous").get()?.synchronous, 2);
});

test("a damaged database is set aside under a dated name and rebuilt; whose it was and which root it had is not forgotten", (t) => {
  const stateDir = makeStateDir(t);
  const first = openDatabase(stateDir);
  const owner = { machineId: "m", apiUrl: "http://a", orgId: "o", deviceId: "d", rootMarkerId: "r" };
  openStateFacts(first.database, stateDir).bind(owner);
  first.database.close();
  for (const damage of [Buffer.alloc(8192, "x"), Buffer.from("SQLite format 3\0rubbish")]) {
    writeFileSync(databasePath(stateDir), damage);
    const { database, setAsideAs } = openDatabase(stateDir);
    assert.match(setAsideAs ?? "", /agent\.db\.damaged-\d{4}-\d\d-\d\dT/);
    assert.equal(openStateFacts(database, stateDir).owner().rootMarkerId, "r");
    assert.throws(() => openStateFacts(database, stateDir).bind({ deviceId: "another" }), /belongs to another device/);
    assert.equal(openInventory(database).size, 0);
    database.close();
  }
  assert.equal(readdirSync(stateDir).filter((name) => name.startsWith("agent.db.damaged-")).length, 2);
});

test("a database of a newer agent is refused and left as it is", (t) => {
  const stateDir = makeStateDir(t);
  const { database } = openDatabase(stateDir);
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
  database.close();
  assert.throws(() => openDatabase(stateDir), /written by a newer agent/);
  assert.equal(openDatabaseToRead({ stateDir, stateGroup: "downlink" }), undefined);
});

test("state of another machine, control plane, organization or device is refused by name", (t) => {
  const stateDir = makeStateDir(t);
  const facts = openStateFacts(openDatabase(stateDir).database, stateDir);
  facts.bind({ machineId: "m", apiUrl: "http://a", orgId: "o", deviceId: "d", deviceName: "old" });
  facts.bind({ deviceName: "renamed" });
  for (const name of ["machineId", "apiUrl", "orgId", "deviceId"] as const) {
    assert.throws(() => facts.bind({ [name]: "other" }), new RegExp(`${name} .*, not other`));
  }
  facts.rebind({ machineId: "m2" });
  assert.equal(openStateFacts(openDatabase(stateDir).database, stateDir).owner().machineId, "m2");
});

test("a state directory is one agent's at a time, and the second one learns whose it is", (t) => {
  const stateDir = makeStateDir(t);
  {
    using _first = lockStateDir(stateDir);
    assert.throws(
      () => lockStateDir(stateDir),
      new RegExp(`another agent \\(pid ${process.pid}\\) runs with ${stateDir}`),
    );
  }
  lockStateDir(stateDir)[Symbol.dispose]();
});

test("only a file that is known as just that is noted as found, and is so whatever becomes of it", (t) => {
  const { database } = openDatabase(makeStateDir(t));
  const inventory = openInventory(database);
  inventory.change([{ do: "track", path: "a.mcap", identity }]);
  assert.equal(inventory.noteFound("b.mcap", identity, 1), false);
  assert.equal(inventory.noteFound("a.mcap", { ...identity, mtimeNs: identity.mtimeNs + 1n }, 1), false);
  assert.equal(inventory.at("a.mcap")?.foundIn, 0);
  assert.equal(inventory.noteFound("a.mcap", { ...identity, ctimeNs: identity.ctimeNs + 1n }, 2), false);
  assert.equal(inventory.at("a.mcap")?.foundIn, 2, "it is not missing");
  assert.equal(inventory.noteFound("a.mcap", { ...identity }, 1), true);
  const { versionId } = inventory.at("a.mcap")!;
  inventory.change([{ do: "event", versionId, event: "unfinished" }]);
  assert.deepEqual([inventory.at("a.mcap")?.state, inventory.at("a.mcap")?.foundIn], ["settling", 1]);
});

test("a rescan of 100,000 unchanged files writes nothing and asks for nothing to be read", (t) => {
  const { database } = openDatabase(makeStateDir(t));
  const inventory = openInventory(database);
  const files = new Map(
    Array.from({ length: 100_000 }, (_, n) => [`d${n % 100}/${n}.mcap`, { ...identity, inode: n }]),
  );
  inventory.change(Array.from(files, ([path, one]) => ({ do: "track", path, identity: one })));
  const scan = { number: 1, files: new Map(), listed: new Map([["", ""]]), unknown: new Set<string>() };
  const startMs = performance.now();
  for (const [path, one] of files) assert.ok(inventory.noteFound(path, { ...one }, 1));
  const plan = planScan(inventory, scan, new Set());
  t.diagnostic(`planning took ${Math.round(performance.now() - startMs)} ms`);
  assert.deepEqual(plan, { steps: [], moves: [], appeared: [], suspects: [], absent: new Set() });
  const before = database.prepare("SELECT total_changes() AS n").get()?.n;
  inventory.change(plan.steps);
  assert.equal(database.prepare("SELECT total_changes() AS n").get()?.n, before);
});

test("20,000 files with another owner are recorded as such, and none of them is reported", (t) => {
  const stateDir = makeStateDir(t);
  const { database } = openDatabase(stateDir);
  const inventory = openInventory(database);
  const paths = Array.from({ length: 20_000 }, (_, n) => `d${n % 100}/recording-2026-01-02-03-04-${n}.mcap`);
  inventory.change(paths.map((path, n) => ({ do: "track", path, identity: { ...identity, inode: n } })));
  const files = paths.map((path) => inventory.at(path)!);
  const findings = { headTailSha256, item: "{}" };
  inventory.change(files.map(({ versionId }) => ({ do: "event", versionId, event: "finished", findings })));
  inventory.change(files.map(({ versionId }) => ({ do: "confirm", versionId, as: "indexed", revision: 1 })));
  assert.equal(inventory.due().size, 0);
  const cpu = process.cpuUsage();
  for (let at = 0; at < files.length; at += 2000) {
    const steps = paths.slice(at, at + 2000).map((path) => {
      const { versionId, identity: was } = inventory.at(path)!;
      return { do: "renew", versionId, was, identity: { ...was, ctimeNs: 7n } } as const;
    });
    inventory.change(steps);
  }
  const { user, system } = process.cpuUsage(cpu);
  t.diagnostic(`${Math.round((user + system) / 1000)} ms of CPU time`);
  assert.equal(inventory.due().size, 0);
  const after = openInventory(openDatabase(stateDir).database);
  assert.ok(after.files().every(({ identity: now, state }) => now.ctimeNs === 7n && state === "reported"));
});

function makeStateDir(t: TestContext): string {
  const stateDir = mkdtempSync(join(tmpdir(), "downlink-state-"));
  t.after(() => rmSync(stateDir, { recursive: true, force: true }));
  return stateDir;
}
