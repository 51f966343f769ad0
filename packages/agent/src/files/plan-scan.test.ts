import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { FileState } from "../inventory/file-state.ts";
import type { FileIdentity } from "../inventory/identity.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { type FinishedScan, isAbsent, planScan } from "./plan-scan.ts";

const identity = (inode: number, ctime = 0): FileIdentity => ({
  device: 0,
  inode,
  sizeBytes: inode * 10,
  mtimeNs: BigInt(inode),
  ctimeNs: BigInt(ctime),
});

const tracked = (path: string, inode: number, state: FileState = "reported"): TrackedFile => ({
  ...{ versionId: `v-${path}`, path, identity: identity(inode), state },
  ...{ reportedAs: undefined, needsReport: false, revision: 0, foundIn: 0 },
});

const known = (...files: TrackedFile[]) => ({
  files: () => files.values(),
  at: (path: string) => files.find((file) => file.path === path),
});

const listing = (...directories: string[]) => new Map(directories.map((path) => [path, "1"]));

const scanOf = (files: Record<string, FileIdentity>, changes: Partial<FinishedScan> = {}): FinishedScan => ({
  number: 1,
  files: new Map(Object.entries(files)),
  listed: listing(""),
  unknown: new Set<string>(),
  ...changes,
});

test("a new file is tracked, one of another size is another version, an unchanged one is left alone", () => {
  const files = known(tracked("a", 1), tracked("b", 2), tracked("young", 3, "settling"));
  const grown = { ...identity(2, 9), sizeBytes: 21 };
  const scan = scanOf({ a: identity(1), b: grown, young: identity(3, 9), new: identity(4) });
  const { steps, appeared, moves, absent, suspects } = planScan(files, scan, new Set());
  assert.deepEqual(suspects, []);
  assert.deepEqual(
    steps.map((step) => step.do === "event" && [step.versionId, step.event]),
    [
      ["v-b", "changed"],
      ["v-young", "changed"],
    ],
  );
  assert.deepEqual(
    appeared.map(({ path }) => path),
    ["b", "new"],
  );
  assert.deepEqual([moves.length, absent.size], [0, 0]);
});

test("where ctime, time or inode changed, the content decides", () => {
  const files = known(tracked("mode", 1), tracked("touched", 2), tracked("copied", 3), tracked("cut", 4, "incomplete"));
  const now = {
    mode: identity(1, 9),
    touched: { ...identity(2, 9), mtimeNs: 9n },
    copied: { ...identity(3), inode: 33 },
    cut: { ...identity(4), device: 5 },
  };
  const { steps, suspects, appeared } = planScan(files, scanOf(now), new Set());
  assert.deepEqual(steps, []);
  assert.deepEqual(
    suspects.map(({ file, identity: found }) => [file.path, found]),
    [
      ["mode", now.mode],
      ["touched", now.touched],
      ["copied", now.copied],
      ["cut", now.cut],
    ],
  );
  assert.deepEqual(appeared, []);
});

test("the name that is left of two stays the version that it was", () => {
  const twins = { ...tracked("b", 1), identity: identity(1) };
  const plan = planScan(known(tracked("a", 1), twins), scanOf({ b: identity(1, 9) }), new Set());
  assert.deepEqual([plan.steps, plan.moves, plan.suspects.length, [...plan.absent]], [[], [], 1, ["v-a"]]);
});

test("a file has gone only when two scans in a row did not find it", () => {
  const files = known(tracked("a", 1));
  const first = planScan(files, scanOf({}), new Set());
  assert.deepEqual([first.steps, first.absent], [[], new Set(["v-a"])]);
  const second = planScan(files, scanOf({}), first.absent);
  assert.deepEqual(
    second.steps.map((step) => step.do === "event" && step.event),
    ["vanished"],
  );
});

test("a file that the inventory noted as found by this scan is not missed, one that an earlier scan found is", () => {
  const files = known({ ...tracked("a", 1), foundIn: 2 }, { ...tracked("b", 2), foundIn: 1 });
  const { absent } = planScan(files, scanOf({}, { number: 2 }), new Set());
  assert.deepEqual(absent, new Set(["v-b"]));
});

test("a rename keeps the version, also when it replaces another file; a copy does not", () => {
  const files = known(tracked("a", 1), tracked("b", 2));
  const renamed = planScan(files, scanOf({ b: identity(1, 9) }), new Set());
  assert.deepEqual(
    renamed.moves.map(({ file, path }) => [file.path, path]),
    [["a", "b"]],
  );
  assert.deepEqual(
    renamed.steps.map((step) => step.do === "event" && [step.versionId, step.event]),
    [["v-b", "vanished"]],
  );
  const linked = planScan(files, scanOf({ a: identity(1), b: identity(2), c: identity(1) }), new Set());
  assert.deepEqual([linked.moves.length, linked.appeared.map(({ path }) => path)], [0, ["c"]]);
});

test("a file under a directory that could not be listed stays, whatever else the scan says", () => {
  const files = known(tracked("dir/sub/a", 1));
  const unreadable = scanOf({}, { unknown: new Set(["dir"]) });
  assert.equal(planScan(files, unreadable, new Set(["v-dir/sub/a"])).steps.length, 0);
  const vanishedLater = scanOf({}, { unknown: new Set(["dir/sub"]), listed: listing("", "dir") });
  assert.equal(planScan(files, vanishedLater, new Set(["v-dir/sub/a"])).steps.length, 0);
});

test("absence is certain when a directory above was listed and did not hold the way down", () => {
  const listed = listing("", "dir");
  assert.equal(isAbsent("dir/sub/a", { listed, unknown: new Set() }), true);
  assert.equal(isAbsent("dir/a", { listed, unknown: new Set() }), true);
  assert.equal(isAbsent("dir/a", { listed, unknown: new Set(["dir/a"]) }), false);
  assert.equal(isAbsent("a", { listed: listing(), unknown: new Set([""]) }), false);
  assert.equal(isAbsent("a", { listed: listing(), unknown: new Set() }), false);
});

test("whatever is renamed, written, removed: two scans later exactly the files of the tree are tracked, none twice", () => {
  const inode = fc.integer({ min: 1, max: 6 });
  const tree = fc.dictionary(fc.constantFrom("a", "b", "c", "d/a", "d/b"), inode);
  fc.assert(
    fc.property(tree, tree, (before, after) => {
      const files = new Map(Object.entries(before).map(([path, node]) => [path, tracked(path, node)]));
      const scan = scanOf(Object.fromEntries(Object.entries(after).map(([path, node]) => [path, identity(node, 9)])), {
        listed: listing("", "d"),
      });
      let absent: ReadonlySet<string> = new Set();
      for (let round = 0; round < 2; round++) absent = applyPlan(files, scan, absent);
      assert.deepEqual([...files.keys()].sort(), Object.keys(after).sort());
      const versions = [...files.values()].map(({ versionId }) => versionId);
      assert.equal(new Set(versions).size, versions.length);
      assert.deepEqual(planScan(known(...files.values()), scan, absent), {
        steps: [],
        moves: [],
        appeared: [],
        suspects: [],
        absent: new Set(),
      });
    }),
  );
});

let versions = 0;

function applyPlan(
  files: Map<string, TrackedFile>,
  scan: FinishedScan,
  absentBefore: ReadonlySet<string>,
): ReadonlySet<string> {
  const { steps, moves, appeared, absent, suspects } = planScan(known(...files.values()), scan, absentBefore);
  for (const step of steps) {
    const file = [...files.values()].find(({ versionId }) => "versionId" in step && versionId === step.versionId);
    assert.ok(file, "a step must be about a file that is there");
    files.delete(file.path);
  }
  for (const { file, identity: now } of suspects) files.set(file.path, { ...file, identity: now });
  for (const { file, path, identity: now } of moves) {
    files.delete(file.path);
    assert.ok(!files.has(path), "a move must go to a free path");
    files.set(path, { ...file, path, identity: now });
  }
  for (const { path, identity: now } of appeared) {
    assert.ok(!files.has(path), "what appeared must be new");
    files.set(path, { ...tracked(path, 0), versionId: `new-${versions++}`, identity: now });
  }
  return absent;
}
