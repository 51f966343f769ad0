import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { test } from "node:test";
import { archiveName, ManifestRefusedError, verifyManifest } from "./release-manifest.ts";
import { compareVersions } from "./versions.ts";

const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const pinned = pem(publicKey);
const release = {
  product: "downlink-agent",
  version: "1.2.3",
  oldestFrom: "1.0.0",
  builtAt: "2026-01-02T03:04:05.000Z",
  commit: "0123",
  files: [{ name: archiveName("1.2.3", "x64"), sizeBytes: 7, sha256: "a".repeat(64) }],
};

function pem(key: KeyObject): string {
  return key.export({ type: "spki", format: "pem" }).toString();
}

function signed(value: unknown, key = privateKey) {
  const bytes = Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
  return { bytes, signature: sign(null, bytes, key) };
}

test("a manifest that the pinned key signed is read", () => {
  const { bytes, signature } = signed(release);
  assert.deepEqual(verifyManifest(bytes, signature, pinned), release);
});

test("a manifest is refused when another key signed it, or any of its bytes differs", () => {
  const { bytes, signature } = signed(release);
  const other = generateKeyPairSync("ed25519");
  assert.throws(() => verifyManifest(bytes, signed(release, other.privateKey).signature, pinned), ManifestRefusedError);
  for (const [at] of bytes.entries()) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    assert.throws(() => verifyManifest(changed, signature, pinned), ManifestRefusedError);
  }
  for (const wrong of [Buffer.alloc(0), Buffer.alloc(64), signature.subarray(1), Buffer.concat([signature, signature])])
    assert.throws(() => verifyManifest(bytes, wrong, pinned), ManifestRefusedError);
});

test("a key of another kind is no key for releases", () => {
  const { bytes, signature } = signed(release);
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  assert.throws(() => verifyManifest(bytes, signature, pem(rsa.publicKey)), ManifestRefusedError);
});

test("what is signed and is no manifest of the agent is refused, and names that lead out of the folder, too", () => {
  const file = release.files[0]!;
  const wrong: unknown[] = [
    "no JSON",
    null,
    [],
    { ...release, product: "other" },
    { ...release, version: "1.2" },
    { ...release, version: "1.2.3-rc1" },
    { ...release, oldestFrom: undefined },
    { ...release, builtAt: "yesterday" },
    { ...release, files: [{ ...file, name: "../x.tar.gz" }] },
    { ...release, files: [{ ...file, name: ".." }] },
    { ...release, files: [{ ...file, name: "-rf" }] },
    { ...release, files: [{ ...file, sizeBytes: -1 }] },
    { ...release, files: [{ ...file, sizeBytes: 1e300 }] },
    { ...release, files: [{ ...file, sha256: "A".repeat(64) }] },
    { ...release, files: [null] },
  ];
  for (const value of wrong) {
    const { bytes, signature } = signed(value);
    assert.throws(() => verifyManifest(bytes, signature, pinned), ManifestRefusedError, JSON.stringify(value));
  }
});

test("versions are compared as numbers", () => {
  const sorted = ["0.9.9", "0.10.0", "1.0.0", "1.0.10", "2.0.0"];
  assert.deepEqual(sorted.toReversed().sort(compareVersions), sorted);
  assert.equal(compareVersions("1.2.3", "1.2.3"), 0);
});
