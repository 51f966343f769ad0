import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type FileEvent,
  type FileState,
  fileEvents,
  fileStates,
  isBeforeIndexing,
  nextBeneath,
  nextState,
  reportedState,
  stateBeneath,
} from "./file-state.ts";

/** Every state × every event, written out by hand; `.` is "stays". Columns as in `fileEvents`. */
const expected: Record<FileState, string> = {
  //           chan vani unfi stay fini empt dama read ackn want unwa upst upsp deli idon ifai fdup back delp dele kept unas assi cout cin
  seen: "sett gone sett inco inde empt dama unre .    .    .    .    .    .    .    .    .    .    .    .    .    .    . away .",
  settling:
    ".    gone .    inco inde empt dama unre .    .    .    .    .    .    .    .    .    .    .    .    .    .    . away .",
  unreadable:
    "sett gone sett inco inde empt dama .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    . away .",
  incomplete:
    "gone gone .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    . away .",
  damaged:
    "gone gone .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    . away .",
  empty:
    "gone gone .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    . away .",
  indexed:
    "gone gone .    .    .    .    .    .    repo requ .    .    .    stor impo fail dupl .    dele .    .    unas . away .",
  reported:
    "gone gone .    .    .    .    .    .    .    requ .    .    .    stor impo fail dupl .    dele .    .    unas . away .",
  unassigned:
    "gone gone .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    repo away .",
  requested:
    "gone gone .    .    .    .    .    .    .    .    repo uplo .    stor impo fail dupl repo .    .    .    .    . away .",
  uploading:
    "gone gone .    .    .    .    .    .    .    .    repo .    requ stor impo fail dupl repo .    .    .    .    . away .",
  stored:
    "gone gone .    .    .    .    .    .    .    requ repo .    .    .    impo fail dupl repo .    .    .    .    . away .",
  imported:
    "gone gone .    .    .    .    .    .    .    requ .    .    .    stor .    fail dupl repo dele .    .    .    . away .",
  failed:
    "gone gone .    .    .    .    .    .    .    requ .    .    .    stor impo .    dupl repo dele .    .    .    . away .",
  duplicate:
    "gone gone .    .    .    .    .    .    .    requ .    .    .    stor impo fail .    repo dele .    .    .    . away .",
  deleting:
    "gone gone .    .    .    .    .    .    .    requ .    .    .    .    .    .    .    repo .    gone repo .    . away .",
  away: ".    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    repo",
  gone: ".    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .",
};

test("every state answers every event as the table says", () => {
  for (const state of fileStates) {
    const row = expected[state].trim().split(/\s+/);
    assert.equal(row.length, fileEvents.length);
    for (const [column, event] of fileEvents.entries()) {
      const next = nextState(state, event);
      const shown = next === state ? "." : next.slice(0, 4);
      assert.equal(shown, row[column], `${state} on ${event}`);
    }
  }
});

test("every state can be reached from the first sight, and every file can go", () => {
  const reached = new Set<FileState>(["seen"]);
  for (const state of reached) for (const event of fileEvents) reached.add(nextState(state, event));
  assert.deepEqual([...reached].sort(), [...fileStates].sort());
  for (const state of fileStates)
    assert.equal(nextState(state, "vanished"), state === "away" ? "away" : "gone", "what is away is not looked for");
});

test("an event that comes twice has no other effect than once", () => {
  const once: FileEvent[] = fileEvents.filter((event) => event !== "changed");
  for (const state of fileStates) {
    for (const event of once) assert.equal(nextState(nextState(state, event), event), nextState(state, event));
  }
});

test("what was indexed never becomes another content: a change ends the version", () => {
  for (const state of fileStates.filter((candidate) => !isBeforeIndexing(candidate) && candidate !== "away")) {
    assert.equal(nextState(state, "changed"), "gone");
  }
});

test("beneath a card that is out what the cloud says goes on, and nothing begins that needs the file", () => {
  for (const state of fileStates.filter((one) => one !== "away" && one !== "gone")) {
    const before = stateBeneath(state);
    assert.equal(nextState(state, "cardOut"), "away");
    assert.equal(reportedState(before), reportedState(state), "the cloud notices nothing");
    for (const event of fileEvents) {
      const next = nextBeneath(before, event);
      const plain = nextState(before, event);
      const needsFile = ["uploading", "deleting", "away", "gone"].includes(plain) || event === "changed";
      assert.equal(next, needsFile ? before : plain, `${before} on ${event}`);
    }
  }
  assert.deepEqual(
    (["uploadStarted", "deletionPlanned", "cardOut"] as const).map((event) => nextBeneath("requested", event)),
    ["requested", "requested", "requested"],
  );
  assert.equal(nextBeneath("requested", "importDone"), "imported");
  assert.equal(nextBeneath("reported", "wanted"), "requested");
});
