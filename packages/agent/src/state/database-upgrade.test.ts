import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { openInventory } from "../inventory/inventory.ts";
import { databasePath, openDatabase, SCHEMA_VERSION } from "./database.ts";

/** A state as the first agents in the field wrote it. */
const version1 = `
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE files (
    id INTEGER PRIMARY KEY, version_id TEXT NOT NULL UNIQUE, path TEXT NOT NULL UNIQUE,
    device INTEGER NOT NULL, inode INTEGER NOT NULL, size_bytes INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, state TEXT NOT NULL, reported_as TEXT, needs_report INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE findings (
    version_id TEXT PRIMARY KEY REFERENCES files (version_id) ON DELETE CASCADE,
    head_tail_sha256 TEXT NOT NULL, start_ns INTEGER, end_ns INTEGER, reason_code TEXT, reason_text TEXT, item TEXT
  ) STRICT;
  CREATE TABLE schemas (sha256 TEXT PRIMARY KEY, data BLOB NOT NULL) STRICT;
  CREATE TABLE removals (version_id TEXT PRIMARY KEY, reported_as TEXT, because TEXT NOT NULL) STRICT;
  INSERT INTO files VALUES (1, 'version-1', 'a.mcap', 0, 7, 100, 1, 2, 'imported', 'indexed', 0);
  INSERT INTO findings VALUES ('version-1', 'hash', 10, 20, NULL, NULL, '{}');
  INSERT INTO removals VALUES ('version-0', 'indexed', 'vanished');
  PRAGMA user_version = 1;
`;

test("the state of an agent of the first version is taken over with all that it knows, once and for all", (t) => {
  const stateDir = mkdtempSync(join(tmpdir(), "downlink-upgrade-"));
  t.after(() => rmSync(stateDir, { recursive: true }));
  const old = new DatabaseSync(databasePath(stateDir));
  old.exec(version1);
  old.close();
  const outcome = { code: "KeyTaken", text: "the key is taken" };
  for (let opening = 1; opening <= 2; opening++) {
    const { database, setAsideAs } = openDatabase(stateDir);
    assert.equal(setAsideAs, undefined);
    const inventory = openInventory(database);
    const file = inventory.at("a.mcap")!;
    assert.deepEqual([file.versionId, file.state, file.endNs], ["version-1", "imported", 20n]);
    assert.deepEqual([...inventory.removals().keys()], ["version-0"]);
    assert.equal(file.away, undefined);
    assert.equal(inventory.hash(file), opening === 1 ? undefined : "a hash");
    assert.deepEqual(inventory.outcome("version-1"), opening === 1 ? undefined : outcome);
    assert.deepEqual(inventory.localRequests(), opening === 1 ? [] : ["version-1"]);
    inventory.change([
      { do: "event", versionId: "version-1", event: "importDone", outcome },
      { do: "requestImport", versionId: "version-1" },
    ]);
    inventory.change([{ do: "noteHash", versionId: "version-1", sha256: "a hash", of: file.identity, isProof: true }]);
    assert.equal(database.prepare("PRAGMA user_version").get()?.user_version, SCHEMA_VERSION);
    database.close();
  }
});

test("a hash is worth nothing any more once the file's ctime is another one, not even after a rename", (t) => {
  const stateDir = mkdtempSync(join(tmpdir(), "downlink-upgrade-"));
  t.after(() => rmSync(stateDir, { recursive: true }));
  using database = openDatabase(stateDir).database;
  const inventory = openInventory(database);
  const identity = { device: 0, inode: 7, sizeBytes: 1, mtimeNs: 1n, ctimeNs: 1n };
  inventory.change([{ do: "track", path: "a.mcap", identity }]);
  const { versionId } = inventory.at("a.mcap")!;
  inventory.change([{ do: "noteHash", versionId, sha256: "a hash", of: { ...identity }, isProof: true }]);
  assert.equal(inventory.hash(inventory.at("a.mcap")!), undefined, "it was read of another identity");
  inventory.change([{ do: "noteHash", versionId, sha256: "a hash", of: identity, isProof: true }]);
  assert.equal(inventory.hash(inventory.at("a.mcap")!), "a hash");
  inventory.change([{ do: "move", versionId, path: "b.mcap", identity: { ...identity, ctimeNs: 2n } }]);
  assert.equal(inventory.hash(inventory.at("b.mcap")!), undefined);
});

test("the content of a file that was touched stays known, and nothing is proven by it; a hash of other bytes makes another version", (t) => {
  const stateDir = mkdtempSync(join(tmpdir(), "downlink-upgrade-"));
  t.after(() => rmSync(stateDir, { recursive: true }));
  using database = openDatabase(stateDir).database;
  const inventory = openInventory(database);
  const identity = { device: 0, inode: 7, sizeBytes: 1, mtimeNs: 1n, ctimeNs: 1n };
  inventory.change([{ do: "track", path: "a.mcap", identity }]);
  const { versionId } = inventory.at("a.mcap")!;
  inventory.change([
    { do: "event", versionId, event: "finished", findings: { headTailSha256: "0", item: "{}" } },
    { do: "noteHash", versionId, sha256: "a hash", of: identity, isProof: true },
  ]);
  const learned = { do: "noteHash", versionId, sha256: "a hash", isProof: false } as const;
  inventory.change([{ ...learned, of: identity }]);
  assert.equal(inventory.hash(inventory.version(versionId)!), "a hash", "what was proven stays so");
  // A restored disk image gives the file another inode and the same times.
  const copied = { ...identity, inode: 8 };
  inventory.change([{ do: "renew", versionId, was: identity, identity: copied }]);
  inventory.change([{ do: "renew", versionId, was: identity, identity: { ...identity, inode: 9 } }]);
  assert.equal(inventory.version(versionId)!.identity, copied, "a decision on what it was before has no effect");
  assert.deepEqual(
    [inventory.hash(inventory.version(versionId)!), inventory.contentHash(versionId)],
    [undefined, "a hash"],
  );
  inventory.change([{ ...learned, sha256: "another hash", of: copied }]);
  assert.equal(inventory.version(versionId), undefined);
  assert.deepEqual([inventory.at("a.mcap")?.state, inventory.at("a.mcap")?.identity], ["seen", copied]);
  assert.equal(inventory.removals().get(versionId)?.because, "changed");
});
