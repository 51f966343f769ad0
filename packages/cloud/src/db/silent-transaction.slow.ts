import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createTestDatabase } from "../testing/test-database.ts";
import { openDatabase } from "./client.ts";
import { isDatabaseAway } from "./sql-state.ts";

const url = await createTestDatabase({ after });
const log = { warn() {} };
const LOCK = "SELECT pg_advisory_xact_lock(7)";

test("whoever waits for a lock of a process that hangs in a transaction gets it, and that process learns that its transaction is over", async () => {
  await using hanging = openDatabase(url, { maxConnections: 1, log });
  await using other = openDatabase(url, { maxConnections: 1, log });
  const client = await hanging.pool.connect();
  await client.query("BEGIN");
  await client.query(LOCK); // from here on it is silent, as a process that is suspended
  await assert.doesNotReject(
    other.pool.query(LOCK),
    "the limit of a statement is longer than a transaction may be silent",
  );
  await assert.rejects(client.query("COMMIT"), (error: unknown) => isDatabaseAway(error));
  client.release(true);
});
