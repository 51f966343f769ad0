import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { Client } from "pg";
import { nameDatabase, readConfig } from "./config.ts";
import type { ConfigError } from "./core/config-error.ts";
import { operatorMessage } from "./operator-message.ts";
import { NotSafeError } from "./recovery/held-deployment.ts";
import { WrongStoreError } from "./recovery/mark-round.ts";

const own = nameDatabase({});

test("a wrong setting is reported by its name, with exit code 2", () => {
  assert.throws(
    () => readConfig({ DOWNLINK_PORT: "99999", DOWNLINK_ADMIN_KEY: "short" }),
    (error: ConfigError) => {
      const shown = operatorMessage(error, own)!;
      return shown.exitCode === 2 && /DOWNLINK_PORT/.test(shown.message) && /DOWNLINK_ADMIN_KEY/.test(shown.message);
    },
  );
});

test("a database that does not answer is reported", async () => {
  const client = new Client({ connectionString: "postgresql://nobody@127.0.0.1:1/none" });
  const error: unknown = await client.connect().catch((failure: unknown) => failure);
  const given = nameDatabase({ DATABASE_URL: "postgresql://127.0.0.1" });
  assert.match(operatorMessage(error, given)!.message, /^the database of DATABASE_URL does not answer: /);
  assert.match(operatorMessage(error, own)!.message, /^Downlink's own Postgres does not answer: /);
});

test("a file that is missing is not a database that does not answer", async () => {
  const error: unknown = await readFile("/does/not/exist").catch((failure: unknown) => failure);
  assert.equal(operatorMessage(error, own), undefined);
});

test("a wrong store, and what is not safe to do now, are reported in their sentence", () => {
  for (const error of [new WrongStoreError("it is not mounted"), new NotSafeError("it recovers")]) {
    const { message, exitCode } = operatorMessage(error, own)!;
    assert.deepEqual([message, exitCode], [error.message, 1]);
  }
});

test("an unexpected error keeps its stack", () => {
  assert.equal(operatorMessage(new TypeError("undefined is not a function"), own), undefined);
});
