import assert from "node:assert/strict";
import { test } from "node:test";
import { slowTest } from "@downlink/recordings/testing";
import { planScan } from "../files/plan-scan.ts";
import { openDatabase } from "../state/database.ts";
import { makeStateDir } from "../testing/state-dir.ts";
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

slowTest("a rescan of 100,000 unchanged files writes nothing and asks for nothing to be read", (t) => {
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

slowTest("20,000 files with another owner are recorded as such, and none of them is reported", (t) => {
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
