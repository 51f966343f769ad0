import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeDevice } from "../testing/run-daemon.ts";
import { healthyStatus, problem } from "../testing/sample-status.ts";
import { explainUntracked, type UntrackedFacts } from "./explain-untracked.ts";
import type { Whereabouts } from "./explanation.ts";

const settings = { watchInclude: ["day*/**/*.{mcap,bag}"], watchExclude: ["**/*.active.*"], scanIntervalMs: 30_000 };

test("every path that the agent does not keep has its reason", async () => {
  using device = makeDevice();
  mkdirSync(join(device.root, "day1"));
  for (const path of ["day1/a.mcap", "day1/x.active.mcap", "day1/notes.txt", "other.mcap", "day1/b.bag.active"])
    writeFileSync(join(device.root, path), "");
  symlinkSync("a.mcap", join(device.root, "day1", "link.mcap"));
  symlinkSync("day1", join(device.root, "link"));
  using elsewhere = makeDevice();
  writeFileSync(join(elsewhere.root, "a.mcap"), "");
  symlinkSync(elsewhere.root, join(device.root, "outside"));
  const expected: [string | undefined, Whereabouts, RegExp][] = [
    [undefined, "outside the root", /not below the storage root/],
    ["day1/.downlink-trash/1-a.mcap", "in the trash", /being deleted/],
    ["day1", "a directory", /directory/],
    ["day1/link.mcap", "a symlink", /not followed/],
    ["day1/gone.mcap", "not there", /There is no file by this path/],
    ["link/a.mcap", "behind a symlink", /^link is a symlink\./],
    ["outside/a.mcap", "behind a symlink", /^outside is a symlink\./],
    ["day1/notes.txt", "not a recording", /\.mcap or \.bag/],
    ["day1/x.active.mcap", "excluded", /by \*\*\/\*\.active\.\*/],
    ["day1/b.bag.active", "being recorded", /names it \.active while it writes it/],
    ["other.mcap", "not included", /day\*\/\*\*/],
    ["day1/a.mcap", "not seen yet", /no scan has seen it yet/],
  ];
  for (const [path, state, why] of expected) {
    const explained = await explainUntracked(factsOf(device.root, path));
    assert.equal(explained.state, state);
    assert.match(explained.why, why);
  }
});

test("of a file behind a link inside of the root, explain names its own path", async () => {
  using device = makeDevice();
  mkdirSync(join(device.root, "it's day 1"));
  writeFileSync(join(device.root, "it's day 1", "a.mcap"), "");
  symlinkSync("it's day 1", join(device.root, "link"));
  const { todo } = await explainUntracked(factsOf(device.root, "link/a.mcap"));
  assert.match(todo!, /`agent explain 'it'\\''s day 1\/a\.mcap'`/);
});

test("for a path that existed, explain says that the agent deleted it, and why", async () => {
  using device = makeDevice();
  const deletion = { at: "2026-01-02T03:04:05Z", reason: "retention" };
  const { state, why } = await explainUntracked({ ...factsOf(device.root, "day1/old.mcap"), deletion });
  assert.equal(state, "deleted by the agent");
  assert.match(why, /2026-01-02T03:04:05Z: it was older/);
});

test("missing storage, no agent and unreadable directories come before the file's own state", async () => {
  using device = makeDevice();
  mkdirSync(join(device.root, "day1"));
  writeFileSync(join(device.root, "day1", "a.mcap"), "");
  const facts = factsOf(device.root, "day1/a.mcap");
  const missing = { ...healthyStatus, storage: { ...healthyStatus.storage, isPresent: false } };
  assert.equal((await explainUntracked({ ...facts, status: missing })).state, "storage missing");
  const down = { ...healthyStatus, health: "not running" as const };
  assert.match((await explainUntracked({ ...facts, status: down })).todo!, /agent run/);
  const unreadable = { ...healthyStatus, problems: [problem("DirectoryUnreadable", "day1: EACCES")] };
  assert.match((await explainUntracked({ ...facts, status: unreadable })).why, /day1: EACCES/);
  const other = { ...healthyStatus, problems: [problem("DirectoryUnreadable", "day2: EACCES")] };
  const { state, todo } = await explainUntracked({ ...facts, status: other });
  assert.deepEqual([state, todo], ["not seen yet", null], "another folder says nothing about this file");
});

function factsOf(root: string, path: string | undefined): UntrackedFacts {
  return { path, absolutePath: join(root, path ?? "../x"), root, deletion: undefined, settings, status: healthyStatus };
}
