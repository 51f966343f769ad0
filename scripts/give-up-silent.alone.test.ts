import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { type TestContext, test } from "node:test";
import { giveUpSilent } from "./give-up-silent.ts";

const SILENCE_MS = 1000;

test("a file that has not ended is named once nothing was heard of for long", (t) => {
  const { events, reasons } = watch(t);
  for (const file of ["a.ts", "b.ts"]) events.emit("test:dequeue", { name: file, file });
  t.mock.timers.tick(SILENCE_MS - 1);
  events.emit("test:complete", { name: "a test of b", file: "b.ts" });
  t.mock.timers.tick(SILENCE_MS - 1);
  events.emit("test:complete", { name: "a.ts", file: "a.ts" });
  t.mock.timers.tick(SILENCE_MS - 1);
  assert.deepEqual(reasons, []);
  t.mock.timers.tick(1);
  assert.deepEqual(reasons, ["nothing was heard of for 1 s: something was left open in b.ts"]);
});

function watch(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const events = new EventEmitter();
  const reasons: string[] = [];
  giveUpSilent(events, SILENCE_MS, ({ message }) => reasons.push(message));
  return { events, reasons };
}
