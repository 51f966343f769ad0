import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Page, readPage } from "./read-page.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const commands = (["one-machine", "replicas"] as const satisfies Page[])
  .map((way) => readPage(way, way) + readPage("backup-and-restore", way))
  .join("");

test("the commands of the pages name only settings that the page of settings has", () => {
  const page = readFileSync(join(ROOT, "docs/reference/settings.md"), "utf8");
  const settings = new Set(commands.match(/\b(DOWNLINK_\w+|DATABASE_URL)\b/g));
  assert.ok(settings.size > 5, "settings were found");
  for (const setting of settings) assert.ok(page.includes(`\`${setting}\``), `${setting} is a setting`);
});

test("the commands of the pages name only files that exist", () => {
  const paths = new Set(commands.match(/\bpackages\/[\w@./-]+/g));
  assert.ok(paths.size > 3, "files were found");
  for (const path of paths) assert.ok(existsSync(join(ROOT, path)), `${path} exists`);
});

test("commands that are marked for one way to run Downlink are left out for the other one", () => {
  assert.match(readPage("backup-and-restore", "replicas"), /pg_restore/);
  assert.doesNotMatch(readPage("backup-and-restore", "one-machine"), /pg_restore/);
  assert.match(readPage("backup-and-restore", "one-machine"), /admin backup/);
});
