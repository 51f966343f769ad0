import assert from "node:assert/strict";
import { test } from "node:test";
import { whyLeftOut } from "./choose-files.ts";

test("recordings are taken, compressed ones too, and others are named with the reason", () => {
  for (const name of ["run.mcap", "RUN.MCAP", "a.bag", "a.bag.zst", "a.b.mcap.lz4", "x.bag.gz", "x.bag.bz2"])
    assert.equal(whyLeftOut({ name, size: 1 }), undefined, name);
  for (const name of ["notes.txt", "mcap", "run.mcap.part", "run.zst", "run.bag.zip", "folder"])
    assert.match(whyLeftOut({ name, size: 1 })!, /no \.mcap and no \.bag/, name);
  assert.match(whyLeftOut({ name: "run.mcap", size: 0 })!, /empty/);
});
