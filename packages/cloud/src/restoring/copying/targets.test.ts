import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { slowTest } from "@downlink/recordings/testing";
import { readConfig } from "../../config.ts";
import { openDatabase } from "../../db/client.ts";
import { testClock, testSigner } from "../../store/blobs/testing/open-file-store.ts";
import { addressOf, nameStore, type StoreAddress } from "../../store/bucket-uploads/store-address.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { requireApart } from "./begin-move.ts";
import { abandonMove, describeMove } from "./current-move.ts";
import { openTarget } from "./open-target.ts";
import { readTarget, settingsOf } from "./read-target.ts";
import { openMove } from "./testing/open-move.ts";

const root = await mkdtemp(join(tmpdir(), "downlink-target-"));
after(() => rm(root, { recursive: true }));
const file = (name: string): StoreAddress => ({ kind: "file", directory: join(root, name) });

test("the settings that the command prints name the store that it copied to", () => {
  const files = { bucket: undefined, container: undefined };
  const container = { account: "fleet", container: "c", endpoint: "http://127.0.0.1:9/fleet", prefix: "" };
  const inContainer = { bucket: undefined, container };
  const bucket = { bucket: "b", endpoint: "http://127.0.0.1:9", region: "r", prefix: "p/", forcePathStyle: true };
  const inBucket = { bucket: { ...bucket, isDirect: false }, container: undefined };
  const secret = { AZURE_STORAGE_KEY: Buffer.from("some key").toString("base64") };
  const cases: [string, Parameters<typeof readTarget>[1], Parameters<typeof readTarget>[2], string][] = [
    ["file:/mnt/objects", {}, files, "file:/mnt/objects"],
    ["s3://robots", {}, files, "s3://robots/"],
    ["s3://robots/a/b", {}, inBucket, "s3://robots/a/b/ at http://127.0.0.1:9"],
    ["s3://robots/a/", { s3Endpoint: "http://h:1/", s3PathStyle: true }, files, "s3://robots/a/ at http://h:1"],
    ["azure://fleet/robots", {}, files, "azure://fleet/robots/"],
    ["azure://fleet/robots/a/b", {}, inContainer, "azure://fleet/robots/a/b/ at http://127.0.0.1:9/fleet"],
    ["azure://other/robots/", {}, inContainer, "azure://other/robots/"],
    [
      "azure://fleet/robots",
      { azureEndpoint: "http://h:1/fleet/" },
      files,
      "azure://fleet/robots/ at http://h:1/fleet",
    ],
    [
      "s3://robots",
      { s3Profile: "new" },
      { ...inBucket, bucket: { ...inBucket.bucket, profile: "old" } },
      "s3://robots/ at http://127.0.0.1:9",
    ],
  ];
  for (const [to, flags, own, name] of cases) {
    const target = readTarget(to, flags, own);
    assert.equal(nameStore(target), name);
    const lines = settingsOf(target).map((line) => line.split("=") as [string, string]);
    const printed = addressOf(readConfig({ ...secret, ...Object.fromEntries(lines) }));
    assert.equal(nameStore(printed), name);
    assert.equal("profile" in printed ? printed.profile : undefined, flags.s3Profile);
  }
  for (const to of ["/mnt/objects", "ftp://robots", "s3://", "file:", "azure://fleet", "azure://Fleet/robots"])
    assert.throws(() => readTarget(to, {}, files), /is neither file:\/folder nor s3:\/\/bucket\/prefix nor azure:/);
});

test("a folder in the store, around it, or the same by another name is refused", async () => {
  const { directory } = file("store") as { directory: string };
  await mkdir(join(directory, "inner"), { recursive: true });
  await symlink(directory, join(root, "alias"));
  await assert.rejects(requireApart(file("store"), file("store")), /the objects are in file:.* already/);
  for (const other of ["store/inner", "alias", "."])
    await assert.rejects(
      requireApart(file("store"), file(other)),
      /lies in the store that it is to replace, or around it/,
    );
  await requireApart(file("store"), file("store-2"));
});

test("a folder that cannot be used is named with the reason", async (t) => {
  await writeFile(join(root, "no-folder"), "");
  await using db = openDatabase(await createTestDatabase(t), { maxConnections: 1, log: { warn: () => {} } });
  await using opened = new AsyncDisposableStack();
  const deps = { db, signer: testSigner, clock: testClock, publicUrl: () => "" };
  const opening = openTarget(opened, file("no-folder/objects"), deps);
  await assert.rejects(opening, /file:.*no-folder\/objects cannot be used: ENOTDIR/);
});

slowTest(
  "the command that shows the recovery has one line for a move, which names both stores and what is used",
  async (t) => {
    const [source, target] = [file("shown"), file("shown-target")];
    const { db, begin } = await openMove(t, { source, newTarget: async () => target });
    const [from, to] = [nameStore(source), nameStore(target)];
    const next = "(downlink admin blobs copy goes on)";
    assert.deepEqual(await describeMove(db), []);
    const { copy } = await begin();
    assert.deepEqual(await describeMove(db), [
      `objects are copied from ${from} to ${to}; only the former is used yet ${next}`,
    ]);
    await db.prisma.storeMove.updateMany({ data: { state: "both" } });
    const both = "both are used, and new objects go to the latter";
    assert.deepEqual(await describeMove(db), [`objects move from ${from} to ${to}; ${both} ${next}`]);
    await copy();
    const kept = `${from} is kept as it was and is not used any more`;
    assert.deepEqual(await describeMove(db), [`objects were moved to ${to}; ${kept} ${next}`]);
  },
);

slowTest("a move is abandoned before the switch only, and its target need not answer", async (t) => {
  const { db, blobs, begin, stateNow } = await openMove(t, {
    source: file("moving"),
    newTarget: async () => file("given-up"),
  });
  await assert.rejects(abandonMove({ db, blobs }), /nothing moves to another store/);
  const { address } = await begin();
  await rm(join(root, "given-up"), { recursive: true });
  assert.equal(await abandonMove({ db, blobs }), nameStore(address));
  assert.equal(await stateNow(), undefined);
  const { copy } = await begin();
  await copy();
  await assert.rejects(abandonMove({ db, blobs }), /new objects are in file:.* already: the move can only go on/);
});
