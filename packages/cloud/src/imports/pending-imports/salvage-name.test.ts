import assert from "node:assert/strict";
import { test } from "node:test";
import { salvageNameOf } from "./salvage-name.ts";

test("a salvage is named after its file and lies beside it; it is an MCAP whatever the file was", () => {
  const names = {
    "drive.mcap": "drive.salvage.mcap",
    "runs/day.1/drive.bag": "runs/day.1/drive.salvage.mcap",
    "night.bag.active": "night.salvage.mcap",
    "/a/NIGHT.MCAP": "/a/NIGHT.salvage.mcap",
    "runs/drive": "runs/drive.salvage.mcap",
    "runs/.mcap": "runs/recording.salvage.mcap",
    "runs/": "runs/recording.salvage.mcap",
    "data.mcap.gz": "data.mcap.gz.salvage.mcap",
  };
  for (const [filename, expected] of Object.entries(names)) assert.equal(salvageNameOf(filename), expected);
});

test("a name is never longer than an upload's may be, and never breaks a character", () => {
  for (const filename of [`${"n".repeat(4091)}.mcap`, "🤖".repeat(2048), `a${"🤖".repeat(2047)}`]) {
    const name = salvageNameOf(filename);
    assert.ok(name.length <= 4096 && name.endsWith(".salvage.mcap") && name.isWellFormed());
  }
});
