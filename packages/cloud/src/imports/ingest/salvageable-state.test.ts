import assert from "node:assert/strict";
import { test } from "node:test";
import { importRequestStates } from "../../import-life/import-request-state.ts";
import { explainNotSalvageable, isUnderWay } from "./salvageable-state.ts";

const damaged = {
  id: "req_1",
  source: "upload",
  state: "error",
  errorCode: "BadChunk",
  errorText: "x",
  blobKey: "b",
  siteObjectKey: null,
} as const;

test("of all states only an error is salvageable, and each other one has a sentence that says why not", () => {
  const sentences = importRequestStates.map((state) => explainNotSalvageable({ ...damaged, state }));
  const sound = sentences.filter((sentence, i) => sentence === undefined && importRequestStates[i] === "error");
  assert.equal(sound.length, 1);
  const others = importRequestStates.filter((state) => state !== "error" && !isUnderWay(state));
  const [waiting, complete, cancelled] = others.map((state) => explainNotSalvageable({ ...damaged, state }));
  assert.equal(new Set([waiting, complete, cancelled]).size, 3);
  assert.ok(sentences.every((sentence) => sentence === undefined || sentence.includes("req_1")));
});

test("incomplete and damaged files can be salvaged; empty ones, other things, and other failures cannot", () => {
  const isSalvageable = (errorCode: string | null) => explainNotSalvageable({ ...damaged, errorCode }) === undefined;
  for (const code of [
    "NoEnd",
    "UnsupportedFormat",
    "ActiveBag",
    "BadMagic",
    "BadFooter",
    "BadSummary",
    "BadRecord",
    "BadChunk",
    "InvalidTime",
  ])
    assert.ok(isSalvageable(code), code);
  for (const code of ["EmptyFile", "NotARecording", "WrongExtension", "EmptyRecording", "KeyTaken"])
    assert.ok(!isSalvageable(code), code);
  for (const code of ["TooHeavy", "ObjectMissing", "toString", "__proto__", null])
    assert.ok(!isSalvageable(code), `${code}`);
});

test("only what is stored can be salvaged by the cloud, whether it was uploaded or sent by a device", () => {
  assert.equal(explainNotSalvageable({ ...damaged, source: "edge" }), undefined);
  assert.match(explainNotSalvageable({ ...damaged, blobKey: null })!, /no longer stored/);
  assert.match(
    explainNotSalvageable({ ...damaged, source: "edge", blobKey: null })!,
    /POST \/v1\/edge-files\/\{id\}\/salvage/,
  );
  assert.match(explainNotSalvageable({ ...damaged, source: "salvage" })!, /is a salvage itself/);
});
