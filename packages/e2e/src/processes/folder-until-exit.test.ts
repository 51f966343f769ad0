import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const FOLDER_UNTIL_EXIT = new URL("folder-until-exit.ts", import.meta.url).href;

/** Makes a folder, and gets SIGTERM as soon as the folder is there. */
const program = (parent: string) => `
  import fs from "node:fs";
  import { syncBuiltinESMExports } from "node:module";
  const { mkdtempSync } = fs;
  fs.mkdtempSync = (prefix) => {
    const folder = mkdtempSync(prefix);
    console.log(folder);
    process.kill(process.pid, "SIGTERM");
    return folder;
  };
  syncBuiltinESMExports();
  const { makeFolderUntilExit } = await import(${JSON.stringify(FOLDER_UNTIL_EXIT)});
  makeFolderUntilExit(${JSON.stringify(parent)}, "run-");
  setInterval(() => {}, 1000);
`;

test("a folder that is kept until the end is removed also if the process is stopped as soon as it is there", (t) => {
  const parent = mkdtempSync(join(tmpdir(), "downlink-folder-"));
  t.after(() => rmSync(parent, { recursive: true, force: true }));
  const ended = spawnSync(process.execPath, ["--input-type=module", "-e", program(parent)], {
    encoding: "utf8",
    timeout: 30_000,
  });
  assert.deepEqual([ended.status, ended.signal], [143, null], ended.stderr);
  assert.match(ended.stdout, /run-/);
  assert.deepEqual(readdirSync(parent), []);
});
