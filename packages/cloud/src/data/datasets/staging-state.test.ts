import assert from "node:assert/strict";
import { test } from "node:test";
import { planEdit, type StagingState } from "./staging-state.ts";

const none = { stageAdd: [], unstageAdd: [], stageRemoval: [], unstageRemoval: [] };

/** [state, step of an add, step of a removal] */
const table: [StagingState, string | undefined, string | undefined][] = [
  ["absent", "stageAdd", undefined],
  ["added", undefined, "unstageAdd"],
  ["member", undefined, "stageRemoval"],
  ["removed", "unstageRemoval", undefined],
];

for (const [state, onAdd, onRemove] of table)
  test(`an add of an episode that is ${state} does ${onAdd ?? "nothing, and counts in alreadyPresent"}, a removal ${onRemove ?? "nothing"}`, () => {
    const added = planEdit(() => state, { add: ["ep_1"], remove: [] });
    assert.deepEqual(added.steps, onAdd ? { ...none, [onAdd]: ["ep_1"] } : none);
    assert.deepEqual(added.counts, { added: onAdd ? 1 : 0, removed: 0, alreadyPresent: onAdd ? 0 : 1 });
    const removed = planEdit(() => state, { add: [], remove: ["ep_1"] });
    assert.deepEqual(removed.steps, onRemove ? { ...none, [onRemove]: ["ep_1"] } : none);
    assert.deepEqual(removed.counts, { added: 0, removed: onRemove ? 1 : 0, alreadyPresent: 0 });
  });

test('"Adds already present, or repeated in the request, count in `alreadyPresent`"; a repeated removal counts once', () => {
  const states: Record<string, StagingState> = { ep_1: "absent", ep_2: "member", ep_3: "member" };
  const edit = { add: ["ep_1", "ep_1", "ep_2", "ep_1", "ep_2"], remove: ["ep_3", "ep_3"] };
  const { steps, counts } = planEdit((id) => states[id]!, edit);
  assert.deepEqual(steps, { ...none, stageAdd: ["ep_1"], stageRemoval: ["ep_3"] });
  assert.deepEqual(counts, { added: 1, removed: 1, alreadyPresent: 4 });
});
