import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { openInventory } from "../inventory/inventory.ts";
import { makeStateDir } from "../testing/state-dir.ts";
import { databasePath, openDatabase, openDatabaseToRead, SCHEMA_VERSION } from "./database.ts";
import { lockStateDir } from "./lock.ts";
import { openStateFacts } from "./state-facts.ts";

test("a commit is on the disk when it returns, as a power cut asks for", (t) => {
  const stateDir = makeStateDir(t);
  using database = openDatabase(stateDir).database;
  assert.equal(database.prepare("PRAGMA synchronous").get()?.synchronous, 2);
});

test("a damaged database is set aside under a dated name and rebuilt; whose it was and which root it had is not forgotten", (t) => {
  const stateDir = makeStateDir(t);
  const first = openDatabase(stateDir);
  const owner = { machineId: "m", apiUrl: "http://a", orgId: "o", deviceId: "d", rootMarkerId: "r" };
  openStateFacts(first.database, stateDir).bind(owner);
  first.database.close();
  for (const damage of [Buffer.alloc(8192, "x"), Buffer.from("SQLite format 3\0rubbish")]) {
    writeFileSync(databasePath(stateDir), damage);
    const { database, setAsideAs } = openDatabase(stateDir);
    assert.match(setAsideAs ?? "", /agent\.db\.damaged-\d{4}-\d\d-\d\dT/);
    assert.equal(openStateFacts(database, stateDir).owner().rootMarkerId, "r");
    assert.throws(() => openStateFacts(database, stateDir).bind({ deviceId: "another" }), /belongs to another device/);
    assert.equal(openInventory(database).size, 0);
    database.close();
  }
  assert.equal(readdirSync(stateDir).filter((name) => name.startsWith("agent.db.damaged-")).length, 2);
});

test("a database of a newer agent is refused and left as it is", (t) => {
  const stateDir = makeStateDir(t);
  const { database } = openDatabase(stateDir);
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
  database.close();
  assert.throws(() => openDatabase(stateDir), /written by a newer agent/);
  assert.equal(openDatabaseToRead({ stateDir, stateGroup: "downlink" }), undefined);
});

test("state of another machine, control plane, organization or device is refused by name", (t) => {
  const stateDir = makeStateDir(t);
  const facts = openStateFacts(openDatabase(stateDir).database, stateDir);
  facts.bind({ machineId: "m", apiUrl: "http://a", orgId: "o", deviceId: "d", deviceName: "old" });
  facts.bind({ deviceName: "renamed" });
  for (const name of ["machineId", "apiUrl", "orgId", "deviceId"] as const) {
    assert.throws(() => facts.bind({ [name]: "other" }), new RegExp(`${name} .*, not other`));
  }
  facts.rebind({ machineId: "m2" });
  assert.equal(openStateFacts(openDatabase(stateDir).database, stateDir).owner().machineId, "m2");
});

test("a state directory is one agent's at a time, and the second one learns whose it is", (t) => {
  const stateDir = makeStateDir(t);
  {
    using _first = lockStateDir(stateDir);
    assert.throws(
      () => lockStateDir(stateDir),
      new RegExp(`another agent \\(pid ${process.pid}\\) runs with ${stateDir}`),
    );
  }
  lockStateDir(stateDir)[Symbol.dispose]();
});
