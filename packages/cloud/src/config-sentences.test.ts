import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readConfig, settingNames } from "./config.ts";

const wrongTexts = ["", "x", "-1", "1.5", "9".repeat(30), "1GB", "http://", "true ", "10.0.0.0/99", "\0", "/a,,b"];

test("what is wrong with a setting is a sentence that names it, without words of a library", () => {
  let complaints = 0;
  for (const name of settingNames)
    for (const text of wrongTexts)
      try {
        readConfig({ DATABASE_URL: "postgres://127.0.0.1/x", [name]: text });
      } catch (error) {
        assert.ok(error instanceof Error, `${name}=${text}: ${error}`);
        assert.doesNotMatch(error.message, /expected|received|invalid|NaN|undefined|null|\^/i, `${name}=${text}`);
        complaints++;
      }
  assert.ok(complaints > 100, `${complaints}`);
});

test("the page of settings, or that of self-hosted sites, says what each setting means", () => {
  const pages = ["reference/settings.md", "guides/operator/self-hosted-site.md"].map((page) =>
    join(import.meta.dirname, "../../../docs", page),
  );
  const rows = pages.flatMap((page) => readFileSync(page, "utf8").match(/^\| `.*$/gm) ?? []);
  const missing = settingNames.filter((name) => !rows.some((row) => row.includes(`\`${name}\``)));
  assert.deepEqual(missing, []);
});
