import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { type TestContext, test } from "node:test";
import { watchSilence } from "./watch-silence.ts";

const SILENCE_MS = 1000;

test("a file that has not ended is named once the run was silent for too long", (t) => {
  const { events, silent } = watch(t);
  for (const file of ["a.ts", "b.ts"]) events.emit("test:dequeue", { name: file, file });
  t.mock.timers.tick(SILENCE_MS - 1);
  events.emit("test:complete", { name: "a test of b", file: "b.ts" });
  t.mock.timers.tick(SILENCE_MS - 1);
  events.emit("test:complete", { name: "a.ts", file: "a.ts" });
  t.mock.timers.tick(SILENCE_MS - 1);
  assert.deepEqual(silent, []);
  t.mock.timers.tick(1);
  assert.deepEqual(silent, [["b.ts"]]);
});

test("a run that has ended is not watched any more", (t) => {
  const { events, silent, watching } = watch(t);
  events.emit("test:dequeue", { name: "a.ts", file: "a.ts" });
  events.emit("test:complete", { name: "a.ts", file: "a.ts" });
  watching[Symbol.dispose]();
  t.mock.timers.tick(SILENCE_MS);
  assert.deepEqual(silent, []);
});

function watch(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const events = new EventEmitter();
  const silent: (readonly string[])[] = [];
  const watching = watchSilence(events, SILENCE_MS, (files) => silent.push(files));
  return { events, silent, watching };
}
