import assert from "node:assert/strict";
import { test } from "node:test";
import { startCloud } from "../testing/start-cloud.ts";
import { createTestDatabase } from "../testing/test-database.ts";

test("a process with another store than the others of its database refuses to start, and one with the same store starts", async (t) => {
  const environment = { DATABASE_URL: await createTestDatabase(t) };
  const { dataDir, adminKey: DOWNLINK_ADMIN_KEY } = await startCloud(t, { environment, works: false });
  await assert.rejects(startCloud(t, { environment: { ...environment, DOWNLINK_ADMIN_KEY } }), {
    name: "WrongStoreError",
    message: /^the object store has no mark, though it confirmed one: it is a wrong or unmounted store/,
  });
  const { url } = await startCloud(t, { environment: { ...environment, DOWNLINK_ADMIN_KEY }, dataDir, works: false });
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
});
