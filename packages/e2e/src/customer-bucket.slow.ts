import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { createTestDatabase } from "@downlink/cloud/testing";
import { type Ceph, runCeph, whyNoCeph } from "@downlink/cloud/testing/run-ceph";
import { api } from "@downlink/protocol";
import { eventually, makeMcap, readIndexedMessages, readMessages } from "@downlink/recordings/testing";
import { openPlant } from "./processes/plant.ts";
import { whyNotInCi } from "./replicas/why-not-in-ci.ts";

const START_NS = 1_760_000_000_000_000_000n;
const MINUTE_NS = 60_000_000_000n;

const skip = whyNoCeph();
const started = skip === undefined ? await runCeph() : undefined;
after(() => started?.[Symbol.asyncDispose]());
const ceph = () => started!;

function recordingOf(minute: number): Promise<Uint8Array> {
  return Promise.resolve(makeMcap({ startNs: START_NS + BigInt(minute) * MINUTE_NS, durationSeconds: 1 }));
}

const database = async (t: { after(close: () => Promise<void>): void }) => ({
  DATABASE_URL: await createTestDatabase(t),
});

/** The next tests go on with what the former ones made. */
const shared =
  skip === undefined
    ? await openPlant({ after }, ceph(), { ...(await database({ after })), DOWNLINK_LIST_BUCKETS: "0" })
    : undefined;
const plant = () => shared!;
const cloud = shared ? await shared.start() : undefined;
after(() => cloud?.[Symbol.asyncDispose]());
const asCompatible = () => ["--provider", "s3_compatible", "--bucket", plant().bucket, "--credentials", "plant-7"];
const there = () => [...asCompatible(), "--endpoint", ceph().endpoint];
const files = { "runs/r1/a b+c %2F.mcap": await recordingOf(1), "runs/ü/\u{1f916}.mcap": await recordingOf(2) };

test("a bucket that cannot become a site is refused in a sentence, and makes nothing", { skip }, async () => {
  for (const [args, sentence] of [
    [["create-byob", "plant", ...asCompatible()], /--endpoint is missing/],
    [["create-byob", "plant", ...asCompatible(), "--endpoint", "here"], /--endpoint here is no URL/],
    [["create-byob", "plant", ...there(), "--provider", "azure"], /--account is missing/],
    [["create-byob", "plant", ...there(), "--account", "plant"], /--account is for containers of Azure/],
    [["create-byob", "plant", ...there(), "--provider", "ftp"], /One of google_cloud, aws, azure, s3_compatible/],
    [["create-byob", "plant", ...there(), "--bucket", "not-there"], /not-there cannot be listed/],
    [["create-byob", "plant", ...there(), "--credentials", "nobody"], /cannot be listed/],
    [["create-byob", "plant", ...there(), "--organization", "nobody"], /no organization "nobody"/],
    [["scan", "plant"], /no bring-your-own-bucket site "plant"/],
  ] as const) {
    const { exitCode, output } = await plant().site(...args);
    assert.match(output, sentence);
    assert.notEqual(exitCode, 0, output);
    assert.doesNotMatch(output, /\n {4}at /, "no stack");
  }
  const sites = await cloud!.admin.call(api.sites.list, {});
  assert.deepEqual(
    sites.map(({ type }) => type),
    ["service-hosted"],
  );
});

test("an admin makes a site of a bucket and tries policies out, which stores nothing", { skip }, async () => {
  const made = await plant().site("create-byob", "plant", ...there(), "--prefix", "runs/");
  assert.equal(made.exitCode, 0, made.output);
  const again = await plant().site("create-byob", "plant", ...there());
  assert.match(again.output, /has a site named "plant" already/);
  const others = { "runs/notes.txt": Buffer.from("x"), "other.mcap": Buffer.from("x") };
  for (const [name, bytes] of Object.entries({ ...files, ...others })) await plant().put(name, bytes);
  const policy = join(plant().env.DOWNLINK_DATA_DIR!, "policy.json");
  const rules = [{ pattern: "runs/*/a*", action: { type: "import", nameTemplate: "robot-{1}" } }];
  await writeFile(policy, JSON.stringify({ schemaVersion: 1, rules }));
  const tried = await plant().site("try-policy", "plant", "--policy", policy);
  assert.deepEqual(tried.output.split("\n").filter(Boolean), [
    'ignore\t"runs/notes.txt"\tno rule',
    'import\t"runs/r1/a b+c %2F.mcap"\trule 0\trobot-r1',
    'ignore\t"runs/ü/\u{1f916}.mcap"\tno rule',
  ]);
  await writeFile(policy, "{");
  assert.match((await plant().site("try-policy", "plant", "--policy", policy)).output, /is no path policy/);
  assert.deepEqual(await cloud!.admin.call(api.recordings.list, {}), []);
});

test("a scan imports what the policy wants, and the recordings are exported exactly", { skip }, async () => {
  const { admin } = cloud!;
  const { id: siteId } = (await admin.call(api.sites.list, {})).find(({ type }) => type === "byob")!;
  const rules = [{ pattern: "runs/*/*.mcap", action: { type: "import" as const } }];
  await admin.call(api.ingestPathPolicies.save, { id: siteId, schemaVersion: 1, rules, previousRevision: 0 });
  const scanned = await plant().site("scan", siteId);
  assert.equal(scanned.exitCode, 0, scanned.output);
  assert.match(scanned.output, /ignored: 1/);
  const recordings = await eventually(
    () => admin.call(api.recordings.list, { sortBy: "path" }),
    (all) => all.length === 2 && all.every(({ importStatus }) => importStatus === "complete"),
  );
  for (const { id, path, location } of recordings) {
    assert.deepEqual(location, { path, bucket: plant().bucket });
    const { link } = await admin.call(api.exports.create, { recordingId: id });
    const exported = new Uint8Array(await (await fetch(link)).arrayBuffer());
    assert.deepEqual(await readIndexedMessages(exported), readMessages(files[path as keyof typeof files]), path);
  }
  const line = new RegExp(`^${siteId}\tplant\ts3_compatible\t${plant().bucket}/runs/\tlisted 2`, "m");
  assert.match((await plant().site("list")).output, line);
});

/** So many recordings lie in the bucket. */
const COUNT = 40;

test("a control plane that is killed while it lists and imports a bucket imports each object once", {
  skip: skip ?? whyNotInCi(),
}, async (t) => {
  const own = await openPlant(t, ceph(), await database(t));
  let running = await own.start();
  t.after(() => running[Symbol.asyncDispose]());
  for (let minute = 0; minute < COUNT; minute += 1) await own.put(`${minute}.mcap`, await recordingOf(minute));
  const place = ["--provider", "s3_compatible", "--endpoint", ceph().endpoint, "--bucket", own.bucket];
  const { output } = await own.site("create-byob", "plant", ...place, "--credentials", "plant-7");
  const siteId = /site_\w+/.exec(output)?.[0] ?? assert.fail(output);
  const rules = [{ pattern: "**", action: { type: "import" as const } }];
  await running.admin.call(api.ingestPathPolicies.save, { id: siteId, schemaVersion: 1, rules });
  const complete = async () =>
    (await running.admin.call(api.recordings.list, {})).filter(({ importStatus }) => importStatus === "complete");
  for (const least of [1, 10, 20]) {
    await eventually(complete, ({ length }) => length >= least);
    await running.program.end("SIGKILL");
    running = await own.start();
  }
  const all = await eventually(complete, ({ length }) => length >= COUNT);
  assert.deepEqual(new Set(all.map(({ path }) => path)).size, all.length);
  const checked = await own.run("admin", "check");
  assert.equal(checked.exitCode, 0, checked.output);
});

test("a check names the permission that is missing in a real bucket", { skip }, async (t) => {
  const own = await openPlant(t, ceph(), { ...(await database(t)), DOWNLINK_LIST_BUCKETS: "0" });
  await using _serving = await own.serve();
  await own.put("a.mcap", await recordingOf(1));
  assert.equal((await own.site("create-byob", "plant", ...own.place)).exitCode, 0);
  const checked = async (...allowed: Parameters<Ceph["letRead"]>[1] & {}) => {
    await ceph().letRead(own.bucket, allowed);
    const { exitCode, output } = await own.site("check", "plant");
    return `${exitCode}: ${output.replaceAll("\n", "; ")}`;
  };
  assert.match(await checked("s3:ListBucket", "s3:GetObject"), /^0: lists: yes; reads: yes$/);
  assert.match(await checked("s3:ListBucket"), /^1: lists: yes; reads: .*403.*s3:GetObject$/);
  assert.match(await checked("s3:GetObject"), /^1: lists: .*403.*s3:ListBucket$/);
  await ceph().keepVersions(own.bucket);
  await own.put("a.mcap", await recordingOf(2));
  assert.match(await checked("s3:ListBucket", "s3:GetObject", "s3:GetObjectVersion"), /^0: .*reads versions: yes$/);
  assert.match(await checked("s3:ListBucket", "s3:GetObject"), /^1: .*reads versions: .*s3:GetObjectVersion$/);
});

test("Ceph's log knows of not one write or delete", { skip }, async () => {
  const calls = await ceph().callsOfReader();
  assert.deepEqual(
    calls.filter((call) => !/^(GET|HEAD) /.test(call)),
    [],
  );
  assert.ok(calls.length > 0);
});
