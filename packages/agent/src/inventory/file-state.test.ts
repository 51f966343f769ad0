import assert from "node:assert/strict";
import { test } from "node:test";
import { type FileEvent, type FileState, fileEvents, fileStates, isBeforeIndexing, nextState } from "./file-state.ts";

/** Every state × every event, written out by hand; `.` is "stays". Columns as in `fileEvents`. */
const expected: Record<FileState, string> = {
  //           chan vani unfi stay fini empt dama read ackn want unwa upst upsp deli idon ifai fdup back delp dele kept unas assi
  seen: "sett gone sett inco inde empt dama unre .    .    .    .    .    .    .    .    .    .    .    .    .    .    .",
  settling:
    ".    gone .    inco inde empt dama unre .    .    .    .    .    .    .    .    .    .    .    .    .    .    .",
  unreadable:
    "sett gone sett inco inde empt dama .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .",
  incomplete:
    "gone gone .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .",
  damaged:
    "gone gone .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .",
  empty:
    "gone gone .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .",
  indexed:
    "gone gone .    .    .    .    .    .    repo requ .    .    .    stor impo fail dupl .    dele .    .    unas .",
  reported:
    "gone gone .    .    .    .    .    .    .    requ .    .    .    stor impo fail dupl .    dele .    .    unas .",
  unassigned:
    "gone gone .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    repo",
  requested:
    "gone gone .    .    .    .    .    .    .    .    repo uplo .    stor impo fail dupl repo .    .    .    .    .",
  uploading:
    "gone gone .    .    .    .    .    .    .    .    repo .    requ stor impo fail dupl repo .    .    .    .    .",
  stored:
    "gone gone .    .    .    .    .    .    .    requ repo .    .    .    impo fail dupl repo .    .    .    .    .",
  imported:
    "gone gone .    .    .    .    .    .    .    requ .    .    .    stor .    fail dupl repo dele .    .    .    .",
  failed:
    "gone gone .    .    .    .    .    .    .    requ .    .    .    stor impo .    dupl repo dele .    .    .    .",
  duplicate:
    "gone gone .    .    .    .    .    .    .    requ .    .    .    stor impo fail .    repo dele .    .    .    .",
  deleting:
    "gone gone .    .    .    .    .    .    .    requ .    .    .    .    .    .    .    repo .    gone repo .    .",
  gone: ".    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .    .",
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
  for (const state of fileStates) assert.equal(nextState(state, "vanished"), "gone");
});

test("an event that comes twice has no other effect than once", () => {
  const once: FileEvent[] = fileEvents.filter((event) => event !== "changed");
  for (const state of fileStates) {
    for (const event of once) assert.equal(nextState(nextState(state, event), event), nextState(state, event));
  }
});

test("what was indexed never becomes another content: a change ends the version", () => {
  for (const state of fileStates.filter((candidate) => !isBeforeIndexing(candidate))) {
    assert.equal(nextState(state, "changed"), "gone");
  }
});
