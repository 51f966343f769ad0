import assert from "node:assert/strict";
import { test } from "node:test";
// biome-ignore lint/style/noRestrictedImports: the test compares with all operations, and no page loads it
import { api, type Operation } from "@downlink/protocol";
import { kindWords, operationWords, resourceText } from "./operation-words.ts";

test("every operation that is audited has words, and no two have the same but for two that delete imported data", () => {
  const audited = Object.entries(api).flatMap(([resource, operations]) =>
    Object.entries<Operation>(operations)
      .filter(([, operation]) => "audits" in operation)
      .map(([name]) => `${resource}.${name}`),
  );
  assert.ok(audited.length > 50);
  const named = Map.groupBy(audited, operationWords);
  for (const name of audited) assert.notEqual(operationWords(name), name);
  assert.deepEqual(
    [...named.values()]
      .filter(({ length }) => length > 1)
      .flat()
      .sort(),
    ["imports.delete", "imports.deleteMany", "recordings.delete"],
  );
});

test("what is not known keeps its name", () => {
  assert.equal(operationWords("invitations.create"), "Invitation made");
  for (const name of ["invitations.fold", "constructor.create", "recovery --from-store", ""])
    assert.equal(operationWords(name), name);
});

test("kinds of resources and actors are words", () => {
  assert.deepEqual(["apiKey", "customProperty", "site"].map(kindWords), ["API key", "custom property", "site"]);
});

test("data that was sent out is named by what was selected", () => {
  const entry = { resourceKind: "export", resourceId: "key_1" } as const;
  assert.equal(resourceText({ ...entry, after: { recordingId: "rec_1", topics: ["/imu"] } }), "recording rec_1");
  assert.equal(resourceText({ ...entry, after: { deviceName: "rover-1" } }), "device rover-1");
  assert.equal(resourceText({ ...entry, after: undefined }), "export key_1");
  assert.equal(
    resourceText({ resourceKind: "device", resourceId: "dev_1", after: { recordingId: "x" } }),
    "device dev_1",
  );
});
