import assert from "node:assert/strict";
import { test } from "node:test";
import { characterAt, LAST_CHARACTER, slowTest } from "@downlink/recordings/testing";
import fc from "fast-check";
import { type Begun, type Imported, ManifestError, manifestKey, parseManifest, writeText } from "./manifest.ts";

const begun: Begun = {
  version: 1,
  kind: "begun",
  orgId: "org_1",
  uploadId: "upl_1",
  uploadKind: "stream",
  requestId: "req_1",
  source: "upload",
  priority: 0,
  siteId: "site_1",
  filename: "a.mcap",
  recordingId: "rec_1",
  importId: "imp_1",
  requestedAtNs: 1n,
  begunAtNs: 2n,
};
const edge = { agentId: "agt_1", siteId: "site_2", versionId: "v", modifiedAtNs: -1n };
const imported: Imported = {
  ...{ ...begun, edge, kind: "import", projectId: "prj_1", sizeBytes: 7n, sha256: "0".repeat(64), format: "bag1" },
  ...{ startNs: -(2n ** 63n), endNs: 2n ** 63n - 1n, messageCount: 0n, indexKey: "org_1/idx_1", redeliveries: 0 },
  importedAtNs: 3n,
};

slowTest("a manifest is read as it was written, whatever texts a device has given", () => {
  assert.deepEqual(parseManifest("org_1/upl_1", "begun", writeText(begun)), begun);
  assert.deepEqual(parseManifest("org_1/upl_1", "import", writeText(imported)), imported);
  const filename = fc.string({ unit: fc.nat(LAST_CHARACTER).map(characterAt) });
  const said = fc.record({ filename, key: fc.string(), sessionKey: fc.string() });
  fc.assert(
    fc.property(said, fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (texts, startNs) => {
      const manifest = { ...imported, ...texts, startNs };
      const read = parseManifest("org_1/upl_1", "import", writeText(manifest));
      assert.deepEqual(read, manifest);
      assert(writeText(manifest).equals(writeText(read)), "the same manifest makes the same bytes");
    }),
  );
});

test("a text that is no manifest of its own key is refused by name", () => {
  const text = (change: object) => Buffer.from(JSON.stringify({ ...JSON.parse(String(writeText(begun))), ...change }));
  const refused: [string, Buffer][] = [
    ["no JSON", Buffer.from("{")],
    ["a version to come", text({ version: 2 })],
    ["another organization", text({ orgId: "org_2" })],
    ["another upload", text({ uploadId: "upl_2" })],
    ["another kind", text({ kind: "import" })],
    ["no state of ours", text({ source: "mail" })],
    ["a number that is none", text({ begunAtNs: "1e3" })],
    ["nothing", Buffer.alloc(0)],
  ];
  for (const [name, bytes] of refused)
    assert.throws(
      () => parseManifest("org_1/upl_1", "begun", bytes),
      (error: Error) => error instanceof ManifestError && error.message.startsWith(manifestKey("org_1/upl_1", "begun")),
      name,
    );
  assert.deepEqual(parseManifest("org_1/upl_1", "begun", text({ later: 1 })), begun, "fields may be added");
});
