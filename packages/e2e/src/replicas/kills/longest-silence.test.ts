import assert from "node:assert/strict";
import { test } from "node:test";
import { type JobStep, longestSilenceMs } from "./longest-silence.ts";

const SECOND = 1000;

/** Makes a step of the import that is looked at, or of another one. */
function step(atSeconds: number, kind: JobStep["kind"], of = "own"): JobStep {
  return { atMs: atSeconds * SECOND, kind, queue: "ingest", jobId: `job of ${of}`, requestId: of };
}

const waitUntil = (untilSeconds: number) => ({ requestId: "own", fromMs: 0, untilMs: untilSeconds * SECOND });
const silenceOf = (untilSeconds: number, ...steps: JobStep[]) =>
  longestSilenceMs(
    waitUntil(untilSeconds),
    steps.toSorted((one, other) => one.atMs - other.atMs),
  ) / SECOND;

/** Other jobs of a queue, each of which is begun and ended within two seconds. */
const othersDone = (untilSeconds: number) =>
  Array.from({ length: untilSeconds / 2 }, (_, at) => [
    step(2 * at, "begun", `other ${at}`),
    step(2 * at + 1, "ended", `other ${at}`),
  ]).flat();

test("a job that waits behind many others, which are done all the time, waits for no dead process", () => {
  assert.ok(silenceOf(122, step(0, "queued"), ...othersDone(120), step(120, "begun"), step(122, "ended")) <= 2);
});

test("a job that waits while nobody works on its queue waits for a dead process", () => {
  assert.equal(silenceOf(62, step(0, "queued"), step(60, "begun"), step(62, "ended")), 60);
});

test("work on another queue is no excuse", () => {
  const elsewhere = othersDone(60).map((other) => ({ ...other, queue: "ingest-large" }));
  const steps = [step(0, "queued"), ...elsewhere, step(60, "begun"), step(62, "ended")];
  assert.equal(silenceOf(62, ...steps), 60);
});

test("a job whose worker died waits for that worker, whatever others do meanwhile", () => {
  const died = [step(0, "queued"), step(1, "begun"), step(5, "alive")];
  assert.equal(silenceOf(52, ...died, ...othersDone(50), step(50, "queued"), step(51, "begun"), step(52, "ended")), 45);
});

test("a job whose worker was suspended and then ended it waited for that worker", () => {
  assert.equal(silenceOf(41, step(0, "queued"), step(1, "begun"), ...othersDone(40), step(41, "ended")), 40);
});

test("a long job with heartbeats waits for nobody", () => {
  const heartbeats = Array.from({ length: 20 }, (_, at) => step(5 * at + 5, "alive"));
  assert.ok(silenceOf(102, step(0, "queued"), step(1, "begun"), ...heartbeats, step(102, "ended")) <= 5);
});

test("an import whose job was lost waits until it is queued again, whatever others do meanwhile", () => {
  assert.equal(silenceOf(62, ...othersDone(60), step(60, "queued"), step(61, "begun"), step(62, "ended")), 60);
});

test("what others do counts for a job that waits again after its worker died", () => {
  const died = [step(0, "queued"), step(1, "begun"), step(20, "queued")];
  assert.equal(silenceOf(91, ...died, ...othersDone(90), step(90, "begun"), step(91, "ended")), 19);
});
