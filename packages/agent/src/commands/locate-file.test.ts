import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { locate } from "./locate-file.ts";

const parent = realpathSync(mkdtempSync(join(tmpdir(), "downlink-locate-")));
after(() => rmSync(parent, { recursive: true }));
const root = join(parent, "root");
mkdirSync(join(root, "day"), { recursive: true });
writeFileSync(join(root, "day", "here.mcap"), "");
writeFileSync(join(parent, "beside.mcap"), "");
symlinkSync(root, join(parent, "link"));

const known = new Set(["day/here.mcap", "day/gone.mcap", "old/gone.mcap"]);

function pathOf(file: string, { from = parent, storageRoot = root } = {}): string | undefined {
  return locate(file, { root: storageRoot, isKnown: (path) => known.has(path), workingDirectory: from }).path;
}

test("a file below the root has one path, however it is named, whether or not it is still there", () => {
  for (const name of ["day/here.mcap", "day/gone.mcap", "old/gone.mcap"]) {
    assert.equal(pathOf(name), name, "as agent ls shows it");
    assert.equal(pathOf(join(root, name)), name, "absolute");
    assert.equal(pathOf(`root/${name}`), name, "below the working directory");
    assert.equal(pathOf(`./root/../root/${name}`), name);
    assert.equal(pathOf(`link/${name}`), name, "by a link");
    assert.equal(pathOf(name, { from: root }), name, "from the root");
    assert.equal(pathOf(join(root, name), { storageRoot: join(parent, "link") }), name, "of a root that is a link");
  }
  assert.equal(pathOf("here.mcap", { from: join(root, "day") }), "day/here.mcap");
  assert.equal(pathOf("gone.mcap", { from: join(root, "day") }), "day/gone.mcap");
  assert.equal(pathOf("../old/gone.mcap", { from: join(root, "day") }), "old/gone.mcap");
});

test("an unknown file is looked for in the working directory, and otherwise below the root", () => {
  assert.equal(pathOf("root/new.mcap"), "new.mcap");
  assert.equal(pathOf("new.mcap", { from: join(root, "day") }), "day/new.mcap");
  assert.equal(pathOf("new.mcap"), "new.mcap");
  assert.equal(pathOf("beside.mcap"), undefined, "it is there, and not below the root");
  assert.equal(pathOf("../new.mcap", { from: root }), undefined);
  assert.equal(pathOf(join(parent, "gone.mcap")), undefined);
});
