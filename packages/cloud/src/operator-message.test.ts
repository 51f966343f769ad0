import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { Client } from "pg";
import { NotSafeError } from "./calls/recovery/held-deployment.ts";
import { WrongStoreError } from "./calls/recovery/mark-round.ts";
import { readConfig } from "./config.ts";
import type { ConfigError } from "./core/config-error.ts";
import { operatorMessage } from "./operator-message.ts";

test("a wrong setting is reported by its name, with exit code 2", () => {
  assert.throws(
    () => readConfig({ DOWNLINK_PORT: "99999", DOWNLINK_ADMIN_KEY: "short" }),
    (error: ConfigError) => {
      const shown = operatorMessage(error)!;
      return shown.exitCode === 2 && /DOWNLINK_PORT/.test(shown.message) && /DOWNLINK_ADMIN_KEY/.test(shown.message);
    },
  );
});

test("a port that is in use is reported with the setting that changes it", async (t) => {
  const first = createServer().listen(0, "127.0.0.1");
  await once(first, "listening");
  t.after(() => first.close());
  const { port } = first.address() as { port: number };
  const second = createServer().listen(port, "127.0.0.1");
  const [error] = await once(second, "error");
  assert.match(operatorMessage(error)!.message, new RegExp(`127\\.0\\.0\\.1:${port} is in use.*DOWNLINK_PORT`));
});

test("a database that does not answer is reported", async () => {
  const client = new Client({ connectionString: "postgresql://nobody@127.0.0.1:1/none" });
  const error: unknown = await client.connect().catch((failure: unknown) => failure);
  assert.match(operatorMessage(error)!.message, /DATABASE_URL/);
});

test("a wrong store, and what is not safe to do now, are reported in their sentence", () => {
  for (const error of [new WrongStoreError("it is not mounted"), new NotSafeError("it recovers")]) {
    const { message, exitCode } = operatorMessage(error)!;
    assert.deepEqual([message, exitCode], [error.message, 1]);
  }
});

test("an unexpected error keeps its stack", () => {
  assert.equal(operatorMessage(new TypeError("undefined is not a function")), undefined);
});
