import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { slowTest } from "@downlink/recordings/testing";
import { type FileIdentity, isSameIdentity } from "../inventory/identity.ts";
import { isBeingRecorded } from "./active-files.ts";
import { matchFiles } from "./match-files.ts";
import { type Scan, scanTree } from "./scan.ts";

const matches = matchFiles({ include: ["**/*.{mcap,bag}"], exclude: ["**/*.active", "tmp/**"] });

test("a scan finds the recordings in all directories, also compressed as a whole, and nothing else", async (t) => {
  const root = makeRoot(t, [
    "a.mcap",
    "B.MCAP",
    "d/e/b.bag",
    ".hidden/c.mcap",
    "tmp/x.mcap",
    "r.bag.active",
    "z.mcap.zstd",
    "z.BAG.gz",
    "z.log.gz",
    "tmp/z.bag.gz",
    "notes.txt",
    "d/ü 日.mcap",
    "d/two\nlines.mcap",
    "new\nline/c.BAG",
  ]);
  mkdirSync(join(root, "dir.mcap"));
  const scan = await scan_(root);
  assert.deepEqual([...scan.files.keys()].sort(), [
    ".hidden/c.mcap",
    "B.MCAP",
    "a.mcap",
    "d/e/b.bag",
    "d/two\nlines.mcap",
    "d/ü 日.mcap",
    "new\nline/c.BAG",
    "z.BAG.gz",
    "z.mcap.zstd",
  ]);
  assert.deepEqual([...scan.listed.keys()].sort(), ["", ".hidden", "d", "d/e", "dir.mcap", "new\nline", "tmp"]);
  assert.deepEqual([scan.unknown.size, scan.unreadable], [0, []]);
});

test("a file that is named .active is found once it has not changed for an hour, by the name that it is to have", async (t) => {
  const root = makeRoot(t, ["crashed.bag.active", "d/recording.mcap.active", "notes.txt.active", "tmp/x.bag.active"]);
  const nowNs = BigInt(Date.now()) * 1_000_000n;
  const found = async (atNs: bigint) => {
    const filters = {
      matches: matchFiles({ include: ["**/*.{mcap,bag}"], exclude: ["tmp/**"] }),
      isBeingRecorded: (path: string, identity: FileIdentity) => isBeingRecorded(path, identity, atNs),
    };
    const rootDevice = lstatSync(root, { bigint: true }).dev;
    const { files, unknown } = await scanTree({ root, rootDevice, ...filters, signal: AbortSignal.timeout(10_000) });
    assert.equal(unknown.size, 0);
    return [...files.keys()].sort();
  };
  assert.deepEqual(await found(nowNs), []);
  utimesSync(join(root, "crashed.bag.active"), 0, Number(nowNs / 1_000_000_000n) - 3601);
  assert.deepEqual(await found(nowNs), ["crashed.bag.active"]);
  assert.deepEqual(await found(nowNs + 3_700_000_000_000n), ["crashed.bag.active", "d/recording.mcap.active"]);
});

test("a file that is known with this identity is left out, and each file is asked about once", async (t) => {
  const root = makeRoot(t, ["a.mcap", "d/b.mcap"]);
  const { files } = await scan_(root);
  const asked: string[] = [];
  const isKnown = (path: string, identity: FileIdentity) => {
    asked.push(path);
    return isSameIdentity(files.get(path)!, identity);
  };
  writeFileSync(join(root, "a.mcap"), "longer than before");
  const rootDevice = lstatSync(root, { bigint: true }).dev;
  const again = await scanTree({ root, rootDevice, matches, isKnown, signal: AbortSignal.timeout(10_000) });
  assert.deepEqual([[...again.files.keys()], asked.toSorted()], [["a.mcap"], ["a.mcap", "d/b.mcap"]]);
});

test("no symlink is followed, neither to a file nor to a directory, neither inside nor outside of the root", async (t) => {
  const outside = makeRoot(t, ["secret.mcap"]);
  const root = makeRoot(t, ["a.mcap", "d/b.mcap"]);
  symlinkSync(outside, join(root, "out"));
  symlinkSync(join(outside, "secret.mcap"), join(root, "link.mcap"));
  symlinkSync(join(root, "d"), join(root, "inside"));
  symlinkSync(root, join(root, "d", "loop"));
  assert.deepEqual([...(await scan_(root)).files.keys()].sort(), ["a.mcap", "d/b.mcap"]);
});

test("names that are not UTF-8 are found, with their bytes in the text of the path, also below directories of such names", async (t) => {
  const root = makeRoot(t, ["a.mcap", "real\uFFFD.mcap"]);
  const odd = (name: string) => Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, "latin1")]);
  writeFileSync(odd("b\xff\xfe.mcap"), "x");
  mkdirSync(odd("d\xe9"));
  writeFileSync(odd("d\xe9/c.mcap"), "x");
  writeFileSync(odd("d\xe9/\\xff.mcap"), "x");
  const scan = await scan_(root);
  const found = ["a.mcap", "b\\xff\\xfe.mcap", "d\\xe9/\\x5cxff.mcap", "d\\xe9/c.mcap", "real\uFFFD.mcap"];
  assert.deepEqual([...scan.files.keys()].sort(), found);
  assert.equal(scan.unknown.size, 0);
});

test("a directory that may not be read is unknown, its neighbours are listed", async (t) => {
  const root = makeRoot(t, ["a.mcap", "closed/b.mcap", "listed-only/c.mcap"]);
  for (const [name, mode] of [
    ["closed", 0o000],
    ["listed-only", 0o444],
  ] as const)
    chmodSync(join(root, name), mode);
  const scan = await asOrdinaryUser(t, root, () => scan_(root));
  assert.deepEqual([...scan.files.keys()], ["a.mcap"]);
  assert.deepEqual([...scan.unknown].sort(), ["closed", "listed-only/c.mcap"]);
  assert.deepEqual(
    scan.unreadable.map(({ code }) => code),
    ["EACCES", "EACCES"],
  );
});

test("a root that is not there is unknown itself: nothing can be said to be absent", async () => {
  const scan = await scanTree({
    root: "/nonexistent/root",
    rootDevice: 0n,
    matches,
    signal: new AbortController().signal,
  });
  assert.deepEqual([[...scan.unknown], scan.listed.size], [[""], 0]);
});

slowTest("a long scan lets the process do other things, and ends when it is aborted", async (t) => {
  const names = Array.from({ length: 3000 }, (_, n) => `${n}.mcap`);
  const root = makeRoot(t, names);
  const stop = new AbortController();
  const reason = new Error("stop");
  let turns = 0;
  const turn = () => {
    turns += 1;
    if (turns < 1_000_000 && !stop.signal.aborted) setImmediate(turn);
  };
  turn();
  const scan = await scan_(root, stop.signal);
  assert.equal(scan.files.size, 3000);
  stop.abort(reason);
  assert.ok(turns > 1);
});

async function scan_(root: string, signal = new AbortController().signal): Promise<Scan> {
  return await scanTree({ root, rootDevice: lstatSync(root, { bigint: true }).dev, matches, signal });
}

function makeRoot(t: TestContext, files: readonly string[]): string {
  const root = mkdtempSync(join(tmpdir(), "downlink-scan-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const file of files) {
    mkdirSync(join(root, file, ".."), { recursive: true });
    writeFileSync(join(root, file), file);
  }
  return root;
}

const NOBODY = 65_534;

/** Drops the privileges of root for a while, because permissions do not hold for root. */
async function asOrdinaryUser<T>(t: TestContext, root: string, work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return await work();
  chmodSync(root, 0o755);
  chownSync(join(root, "closed"), 0, 0);
  process.seteuid?.(NOBODY);
  t.after(() => process.seteuid?.(0));
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}
