import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { createTestDatabase } from "../testing/test-database.ts";
import { states } from "./generated/states.ts";

test("the database accepts in each column of states the states of the schema, and no others", async (t) => {
  const client = new pg.Client({ connectionString: await createTestDatabase(t) });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; definition: string }>(
      "SELECT conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE conname LIKE '%_is_known'",
    );
    const checked = Object.fromEntries(rows.map(({ name, definition }) => [name, textsIn(definition)]));
    assert.deepEqual(checked, Object.fromEntries(namedLists()));
  } finally {
    await client.end();
  }
});

function namedLists(): [string, string[]][] {
  return Object.entries(states).flatMap(([model, columns]) =>
    Object.entries(columns).map(([column, list]): [string, string[]] => [`${model}_${column}_is_known`, [...list]]),
  );
}

function textsIn(definition: string): string[] {
  return [...definition.matchAll(/'([^']*)'/g)].map(([, text]) => text!);
}
