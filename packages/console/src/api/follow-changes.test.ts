import assert from "node:assert/strict";
import { test } from "node:test";
import type { Changes } from "@downlink/protocol";
import { followChanges } from "./follow-changes.ts";

const quiet = { changes: [], isMissed: false };
const busy = { changes: [{ kind: "event" as const, id: "1", projectId: "p" }], isMissed: false };

test("each call asks from the answer before, and what came is heeded once", async () => {
  const answers = [
    { ...quiet, next: "1" },
    { ...busy, next: "2" },
    { ...quiet, next: "3" },
  ];
  const { asked, heeded, waits } = await follow(answers);
  assert.deepEqual(asked, [undefined, "1", "2", "3"]);
  assert.deepEqual(heeded, [{ ...quiet, isMissed: true, next: "1" }, ...answers.slice(1)]);
  assert.deepEqual(waits, [2000], "only after something happened");
});

test("a call that fails is repeated later, from the same place", async () => {
  const { asked, waits } = await follow([{ ...quiet, next: "1" }, new Error("away"), { ...quiet, next: "2" }]);
  assert.deepEqual(asked, [undefined, "1", "1", "2"]);
  assert.equal(waits.length, 1);
});

/** Answers one call after the other, and ends when there is no answer left. */
async function follow(answers: readonly (Changes | Error)[]) {
  const end = new AbortController();
  const asked: (string | undefined)[] = [];
  const heeded: Changes[] = [];
  const waits: number[] = [];
  await followChanges(undefined, {
    ask: async (since) => {
      const answer = answers[asked.push(since) - 1];
      if (answer === undefined) end.abort();
      if (answer instanceof Error || answer === undefined) throw answer;
      return answer;
    },
    heed: (answer) => void heeded.push(answer),
    wait: async (ms) => void waits.push(ms),
    signal: end.signal,
  });
  return { asked, heeded, waits };
}
