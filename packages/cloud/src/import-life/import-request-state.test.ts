import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ImportRequestEvent,
  type ImportRequestState,
  importRequestStates,
  nextRequestState,
  statesBefore,
  terminalStates,
  workingStates,
} from "./import-request-state.ts";

const events: ImportRequestEvent[] = [
  "store",
  "take",
  "index",
  "finish",
  "fail",
  "retry",
  "redeliver",
  "cancel",
  "adopt",
];

/** Every state, and where each event leads from it in the order above; `-` means that the event does not apply. */
const table: Record<ImportRequestState, string> = {
  awaiting: "received - - - error - - cancelled complete",
  received: "- processing - - error - awaiting cancelled complete",
  processing: "- processing ready_for_indexing - error - awaiting cancelled complete",
  "ready for indexing": "- processing - complete error - awaiting cancelled complete",
  complete: "- - - - - - - - -",
  error: "- - - - - received awaiting cancelled complete",
  cancelled: "- - - - - - - - -",
};

for (const state of importRequestStates)
  test(`from ${state} each event leads where the drawing says`, () => {
    const shown = events.map((event) => nextRequestState(state, event)?.replaceAll(" ", "_") ?? "-").join(" ");
    assert.equal(shown, table[state]);
  });

test("every state is either waiting, working or terminal", () => {
  assert.deepEqual(["awaiting", ...workingStates, ...terminalStates].sort(), [...importRequestStates].sort());
});

test("from every working state an import can still end in success or with an error", () => {
  for (const state of workingStates) {
    assert.ok(statesBefore("fail").includes(state));
    assert.ok(statesBefore("take").includes(state));
  }
});
