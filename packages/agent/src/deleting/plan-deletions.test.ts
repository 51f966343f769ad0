import assert from "node:assert/strict";
import { test } from "node:test";
import { slowTest } from "@downlink/recordings/testing";
import fc from "fast-check";
import { type FileState, fileStates } from "../inventory/file-state.ts";
import { type DeletionSituation, type DeletionStep, type PlannedFile, planDeletions } from "./plan-deletions.ts";

const SECOND = 1_000_000_000n;
const DAY = 86_400n * SECOND;
const nowNs = 1_800_000_000n * SECOND;

const noPolicy: DeletionSituation["policy"] = {
  ...{ retainSeconds: 0, deletesImported: false, isEnabled: true },
  ...{ maxDiskBytes: undefined, minFreeBytes: undefined, prunesUnimported: false },
};

const calm: DeletionSituation = {
  ...{ files: [], policy: noPolicy, freeBytes: 1e9, reach: "connected", serverNowNs: nowNs, isRetentionHeld: false },
  isWorthTrying: () => true,
  isLinked: () => false,
};

function file(versionId: string, state: FileState, more: { endNs?: bigint; sizeBytes?: number; inode?: number } = {}) {
  const { endNs = nowNs - DAY, sizeBytes = 100, inode = Number.parseInt(versionId, 36) } = more;
  return { versionId, state, endNs, identity: { device: 0, inode, sizeBytes, mtimeNs: 1n, ctimeNs: 1n } };
}

function plan(files: readonly PlannedFile[], policy: Partial<DeletionSituation["policy"]>, more = {}) {
  const situation = { ...calm, files, policy: { ...noPolicy, ...policy }, ...more };
  return planDeletions(situation).steps.map(({ versionId, reason }) => `${versionId} ${reason}`);
}

test("without any setting nothing is deleted, whatever files there are", () => {
  const files = fileStates.map((state, index) => file(`${index}`, state, { endNs: 1n }));
  assert.deepEqual(plan(files, {}, { freeBytes: 0 }), []);
});

test("imported files are deleted if the device is set so, and copies of them, and only those", () => {
  const files = fileStates.map((state) => file(state, state));
  assert.deepEqual(plan(files, { deletesImported: true }), ["imported imported", "duplicate imported"]);
});

test("files that ended longer ago than the retention are deleted, imported or not; requested and unfinished ones stay", () => {
  const files = fileStates.map((state) => file(state, state));
  const old = { retainSeconds: 3600 };
  assert.deepEqual(plan(files, old).sort(), [
    "duplicate retention",
    "failed retention",
    "imported retention",
    "reported retention",
  ]);
  assert.deepEqual(plan(files, { retainSeconds: 86_400 }), []);
  assert.deepEqual(plan(files, old, { isRetentionHeld: true }), []);
  assert.deepEqual(plan(files, old, { serverNowNs: undefined }), []);
});

test("a quota takes imported files first and the oldest of them first, and no more than it needs", () => {
  const files = [
    file("new", "imported", { endNs: 3n }),
    file("old", "imported", { endNs: 1n }),
    file("mid", "imported", { endNs: 2n }),
    file("never", "reported", { endNs: 0n }),
  ];
  assert.deepEqual(plan(files, { maxDiskBytes: 250 }), ["old space", "mid space"]);
  assert.deepEqual(plan(files, { minFreeBytes: 150 }, { freeBytes: 60 }), ["old space"]);
  assert.deepEqual(plan(files, { maxDiskBytes: 0 }), ["old space", "mid space", "new space"]);
  const pruning = { maxDiskBytes: 0, prunesUnimported: true };
  assert.deepEqual(plan(files, pruning), ["old space", "mid space", "new space", "never prune"]);
});

test("files that the rules delete in any case count for the quota", () => {
  const files = [file("a", "imported", { endNs: 1n }), file("b", "reported", { endNs: 2n })];
  assert.deepEqual(plan(files, { deletesImported: true, maxDiskBytes: 100, prunesUnimported: true }), ["a imported"]);
});

test("space is counted by inode, and content with another name is left: deleting it frees nothing", () => {
  const files = [
    file("a", "imported", { inode: 7, endNs: 1n }),
    file("b", "imported", { inode: 7, endNs: 2n }),
    file("c", "imported", { endNs: 3n }),
  ];
  assert.deepEqual(plan(files, { maxDiskBytes: 200 }), []);
  assert.deepEqual(plan(files, { maxDiskBytes: 150 }), ["c space"]);
  assert.deepEqual(plan(files, { maxDiskBytes: 150 }, { isLinked: (id: string) => id === "c" }), []);
  const { neededBytes, missingBytes } = planDeletions({ ...calm, files, policy: { ...noPolicy, maxDiskBytes: 50 } });
  assert.deepEqual([neededBytes, missingBytes], [150, 50]);
});

test("cut off from the cloud, only a quota with PRUNE_UNIMPORTED deletes; while that is not sure, nothing does", () => {
  const files = [file("a", "imported"), file("b", "indexed"), file("c", "requested"), file("d", "stored")];
  const rules = { deletesImported: true, retainSeconds: 1, maxDiskBytes: 0 };
  assert.deepEqual(plan(files, rules, { reach: "offline" }), []);
  assert.deepEqual(plan(files, { ...rules, prunesUnimported: true }, { reach: "unsure" }), []);
  assert.deepEqual(plan(files, { ...rules, prunesUnimported: true }, { reach: "offline" }), ["a space", "b prune"]);
});

/** Finds steps that §4 forbids, written a second time and independent of the planner. */
function complaints(situation: DeletionSituation, steps: readonly DeletionStep[]): string[] {
  const rules = steps.flatMap((step) => {
    const file = situation.files.find(({ versionId }) => versionId === step.versionId)!;
    return [
      ...rulesOfState(situation, file),
      ...rulesOfReach(situation, step),
      ...rulesOfSpace(situation, file, step),
      ...(step.reason === "retention" ? rulesOfAge(situation, file) : []),
    ];
  });
  rules.push(
    [new Set(steps.map(({ versionId }) => versionId)).size < steps.length, "one file twice"],
    [steps.length > 0 && isLastOneTooMuch(situation, steps), "more than the quota needs"],
  );
  return rules.filter(([isBroken]) => isBroken).map(([, what]) => what);
}

type Rule = [isBroken: boolean, what: string];

function rulesOfState({ reach }: DeletionSituation, { state }: PlannedFile): Rule[] {
  const neverDeleted = ["requested", "uploading", "stored", "settling", "incomplete", "deleting", "gone"];
  return [
    [neverDeleted.includes(state), `${state} is never deleted`],
    [["seen", "damaged", "empty", "unreadable", "unassigned"].includes(state), `${state} is no recording`],
    [state === "indexed" && reach !== "offline", "it is about to be reported"],
  ];
}

function rulesOfReach(
  { reach, policy, isWorthTrying }: DeletionSituation,
  { versionId, reason }: DeletionStep,
): Rule[] {
  const isForSettings = reason === "imported" || reason === "retention";
  return [
    [reach === "unsure", "it is not known whether the cloud can be asked"],
    [reach === "offline" && !policy.prunesUnimported, "offline without PRUNE_UNIMPORTED"],
    [reach === "offline" && isForSettings, "offline, only a quota deletes"],
    [reach === "connected" && !policy.isEnabled, "the device is disabled"],
    [!isWorthTrying(versionId, reason), "it was refused a moment ago"],
  ];
}

function rulesOfSpace(
  { files, policy, isLinked }: DeletionSituation,
  { versionId, state, identity }: PlannedFile,
  { reason }: DeletionStep,
): Rule[] {
  const hasQuota = policy.maxDiskBytes !== undefined || policy.minFreeBytes !== undefined;
  const isForSpace = reason === "space" || reason === "prune";
  const sameInode = files.filter((one) => one.identity.inode === identity.inode);
  const isNeeded = sameInode.some((one) => ["requested", "uploading", "stored", "settling"].includes(one.state));
  const isStored = state === "imported" || state === "duplicate";
  return [
    [isForSpace && !hasQuota, "no quota is set"],
    [isForSpace && isLinked(versionId), "another name is left"],
    [isForSpace && sameInode.length > 1, "it frees nothing"],
    [isNeeded, "under another name it is under way"],
    [reason === "imported" && (!isStored || !policy.deletesImported), "not by autoDelete"],
    [reason === "space" && !isStored, "never imported"],
    [reason === "prune" && !policy.prunesUnimported, "PRUNE_UNIMPORTED is off"],
  ];
}

function rulesOfAge({ policy, serverNowNs, isRetentionHeld }: DeletionSituation, { endNs }: PlannedFile): Rule[] {
  const ageNs = serverNowNs === undefined || endNs === undefined ? -1n : serverNowNs - endNs;
  return [
    [policy.retainSeconds === 0 || isRetentionHeld, "no retention is in force"],
    [ageNs <= BigInt(policy.retainSeconds) * SECOND, "it is too young"],
  ];
}

/** Returns whether the quotas would hold without the last step, where that step is for a quota. */
function isLastOneTooMuch(situation: DeletionSituation, steps: readonly DeletionStep[]): boolean {
  if (!["space", "prune"].includes(steps.at(-1)!.reason)) return false;
  const { files, policy, freeBytes = Number.POSITIVE_INFINITY } = situation;
  const gone = new Set(steps.slice(0, -1).map(({ versionId }) => versionId));
  const left = files.filter(({ versionId }) => !gone.has(versionId));
  const bytesOf = (some: readonly PlannedFile[]) => {
    const byInode = new Map(some.map(({ identity }) => [identity.inode, identity.sizeBytes]));
    return [...byInode.values()].reduce((sum, bytes) => sum + bytes, 0);
  };
  const withoutOtherName = (some: readonly PlannedFile[]) =>
    some.filter(({ versionId }) => !situation.isLinked(versionId));
  const isSmallEnough = policy.maxDiskBytes === undefined || bytesOf(left) <= policy.maxDiskBytes;
  const freeAfter = freeBytes + bytesOf(withoutOtherName(files)) - bytesOf(withoutOtherName(left));
  return isSmallEnough && (policy.minFreeBytes === undefined || freeAfter >= policy.minFreeBytes);
}

const aFile = fc.record({
  state: fc.constantFrom(...fileStates),
  endNs: fc.option(fc.bigInt({ min: nowNs - 4n * DAY, max: nowNs + DAY }), { nil: undefined }),
  inode: fc.integer({ min: 1, max: 20 }),
});

/** Makes a file; files with one inode have one size. */
function fileOf(
  { state, endNs, inode }: { state: FileState; endNs: bigint | undefined; inode: number },
  index: number,
) {
  return { ...file(index.toString(36), state, { inode, sizeBytes: (inode % 13) * 80 }), endNs };
}

const aSituation = fc.record({
  files: fc.array(aFile, { maxLength: 20 }).map((all) => all.map(fileOf)),
  policy: fc.record({
    retainSeconds: fc.constantFrom(0, 1, 3600, 86_400, 2 * 86_400),
    deletesImported: fc.boolean(),
    isEnabled: fc.boolean(),
    maxDiskBytes: fc.option(fc.integer({ min: 0, max: 5000 }), { nil: undefined }),
    minFreeBytes: fc.option(fc.integer({ min: 0, max: 5000 }), { nil: undefined }),
    prunesUnimported: fc.boolean(),
  }),
  freeBytes: fc.option(fc.integer({ min: 0, max: 5000 }), { nil: undefined }),
  reach: fc.constantFrom("connected" as const, "unsure" as const, "offline" as const),
  serverNowNs: fc.option(fc.bigInt({ min: nowNs - 3n * DAY, max: nowNs + 3n * DAY }), { nil: undefined }),
  isRetentionHeld: fc.boolean(),
  refused: fc.array(fc.integer({ min: 0, max: 20 })),
  linked: fc.array(fc.integer({ min: 0, max: 20 })),
});

test("whatever files and settings there are, no deletion is planned that the rules forbid", () => {
  fc.assert(
    fc.property(aSituation, ({ refused, linked, ...given }) => {
      const isWorthTrying = (id: string) => !refused.includes(Number.parseInt(id, 36));
      const isLinked = (id: string) => linked.includes(Number.parseInt(id, 36));
      const situation = { ...given, isWorthTrying, isLinked };
      assert.deepEqual(complaints(situation, planDeletions(situation).steps), []);
    }),
    { numRuns: 5000 },
  );
});

test("a quota is met whenever the rules leave enough to delete", () => {
  fc.assert(
    fc.property(fc.array(aFile, { maxLength: 20 }), fc.integer({ min: 0, max: 3000 }), (all, maxDiskBytes) => {
      const files = all.map(({ state, inode }, index) => file(index.toString(36), state, { sizeBytes: inode * 30 }));
      const policy = { ...noPolicy, maxDiskBytes, prunesUnimported: true };
      const { steps, missingBytes } = planDeletions({ ...calm, files, policy });
      const kept = files.filter(({ versionId }) => !steps.some((step) => step.versionId === versionId));
      const keptBytes = kept.reduce((sum, { identity }) => sum + identity.sizeBytes, 0);
      assert.equal(missingBytes, Math.max(0, keptBytes - maxDiskBytes));
      const isNothingLeft = kept.every(({ state }) => !["imported", "reported", "failed"].includes(state));
      assert.ok(missingBytes === 0 || isNothingLeft);
    }),
    { numRuns: 1000 },
  );
});

slowTest("a plan over 100,000 files is made quickly", (t) => {
  const files = Array.from({ length: 100_000 }, (_, index) =>
    file(index.toString(36), index % 2 ? "imported" : "reported", { endNs: BigInt((index * 7919) % 100_000) }),
  );
  const policy = { ...noPolicy, maxDiskBytes: 1_000_000, prunesUnimported: true };
  const startMs = performance.now();
  const { steps } = planDeletions({ ...calm, files, policy });
  t.diagnostic(`planning took ${Math.round(performance.now() - startMs)} ms`);
  assert.equal(steps.length, 90_000);
});
