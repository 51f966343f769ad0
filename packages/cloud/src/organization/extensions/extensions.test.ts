import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { after, test } from "node:test";
import type { Client } from "@downlink/client";
import { api, capabilities, type Extension, MAX_EXTENSION_BYTES } from "@downlink/protocol";
import { eventually, slowTest } from "@downlink/recordings/testing";
import { request } from "undici";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";
import { makeZip, type ZipFile } from "./testing/make-zip.ts";

const clock = createStoppedClock(BigInt(Date.now()) * 1_000_000n, { stepNs: 1n });
const cloud = await startCloud({ after }, { clock });
const { admin, adminKey } = cloud;
const { orgId } = await admin.call(api.devices.create, { name: "robot" });
const get = (id: string, client: Client = admin) => client.call(api.extensions.get, { id });
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

test("a published extension is listed with the facts of its manifest, and a signed link returns its package", async () => {
  const zip = foxe({
    name: "turtle",
    publisher: "Acme",
    version: "1.0",
    displayName: "Türtle",
    description: "it\nwalks",
  });
  const { status, body } = await publish(zip);
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(body), ["id"]);
  const id = String(body.id);
  assert.match(id, /^ext_[0-9a-hjkmnp-tv-z]{26}$/);
  const expected = {
    id,
    name: "turtle",
    publisher: "Acme",
    displayName: "Türtle",
    description: "it\nwalks",
    activeVersion: "1.0",
    sha256Sum: sha256(zip),
  };
  const listed = await admin.call(api.extensions.list, {});
  assert.deepEqual(
    listed.find((extension) => extension.id === id),
    expected,
  );
  const { foxe: link, ...got } = await get(id);
  assert.deepEqual(got, expected);
  const download = await fetch(link, { headers: { authorization: "Bearer of somebody else" } });
  assert.equal(download.status, 200);
  assert.ok(zip.equals(Buffer.from(await download.arrayBuffer())));
  assert.match(download.headers.get("content-disposition")!, /filename="Acme\.turtle-1\.0\.foxe"/);
  assert.equal(download.headers.get("etag"), `"${sha256(zip)}"`);
  const head = await fetch(link, { method: "HEAD" });
  assert.equal(head.headers.get("content-length"), String(zip.length));
  const range = await fetch(link, { headers: { range: "bytes=2-4" } });
  assert.deepEqual([range.status, Buffer.from(await range.arrayBuffer())], [206, zip.subarray(2, 5)]);
});

test("a package that is being sent when the process is told to stop is still accepted", async (t) => {
  const stopping = await startCloud(t, { works: false });
  const zip = foxe({ name: "late", publisher: "Acme", version: "1.0" });
  const [begun, shown] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  async function* pieces() {
    yield zip.subarray(0, 10);
    begun.resolve();
    await shown.promise;
    yield zip.subarray(10);
  }
  const headers = { authorization: `Bearer ${stopping.adminKey}`, "content-type": "application/octet-stream" };
  const publishing = request(`${stopping.url}/v1/extension-upload`, {
    method: "POST",
    headers,
    body: Readable.from(pieces()),
  });
  await begun.promise;
  await eventually(
    async () => (await fetch(`${stopping.url}/metrics`)).text(),
    (metrics) => metrics.includes("downlink_http_connections 2"),
  );
  stopping.deps.beginStopping();
  shown.resolve();
  assert.equal((await publishing).statusCode, 200);
});

test("a link is valid for 15 minutes, for GET, and for the one package that it names", async () => {
  const [one, two] = [await published({ name: "one" }), await published({ name: "two" })];
  const [{ foxe: link }, { foxe: another }] = [await get(one), await get(two)];
  const swapped = new URL(another).pathname;
  const statusOf = async (url: string, method = "GET") => {
    const response = await fetch(url, { method });
    await response.arrayBuffer();
    return response.status;
  };
  assert.equal(await statusOf(link.replace(new URL(link).pathname, swapped)), 403);
  assert.equal(await statusOf(link.split("?")[0]!), 400);
  assert.equal(await statusOf(link, "PUT"), 405);
  clock.atNs += 15n * 60n * 1_000_000_000n - 1_000_000_000n;
  assert.equal(await statusOf(link), 200);
  clock.atNs += 1_000_000_000n;
  assert.equal(await statusOf(link), 403);
});

test("an extension is identified by publisher and name, both in upper or lower case, and not by the two joined", async () => {
  const id = await published({ publisher: "Case", name: "Käse", version: "1" });
  assert.equal(await published({ publisher: "CASE", name: "KÄSE", version: "2" }), id);
  const { name, publisher, activeVersion } = await get(id);
  assert.deepEqual([publisher, name, activeVersion], ["Case", "Käse", "2"]);
  const dotted = [
    await published({ publisher: "a.b", name: "c" }),
    await published({ publisher: "a", name: "b.c" }),
    await published({ publisher: "a", name: "@b/c" }),
  ];
  assert.equal(new Set(dotted).size, 3);
});

test("each upload must have a version that is unique for that extension, of any scheme; the newest upload is active", async () => {
  const id = await published({ name: "versions", version: "2.0.0" });
  for (const version of ["1.0.0", "latest", "ä/😀", "2.0.0-A"])
    assert.equal(await published({ name: "versions", version }), id);
  const before = await get(id);
  assert.equal(before.activeVersion, "2.0.0-A");
  const again = await publish(foxe({ name: "versions", version: "1.0.0", description: "changed" }));
  assert.deepEqual([again.status, again.body.code], [409, "NameTaken"]);
  assert.match(String(again.body.error), /1\.0\.0/);
  const { foxe: _, ...now } = await get(id);
  const { foxe: __, ...then } = before;
  assert.deepEqual(now, then);
  assert.notEqual(await published({ name: "other", version: "1.0.0" }), id);
});

test("the display name is required, and cannot be changed by later versions: 409", async () => {
  const missing = await publish(foxe({ name: "named", displayName: undefined }));
  assert.deepEqual([missing.status, missing.body.code], [400, "InvalidRequest"]);
  assert.match(String(missing.body.error), /displayName/);
  const id = await published({ name: "named", displayName: "First", description: "old" });
  const renamed = await publish(foxe({ name: "named", version: "2", displayName: "Second", description: "new" }));
  assert.deepEqual([renamed.status, renamed.body.code], [409, "Conflict"]);
  const { displayName, description, activeVersion } = await get(id);
  assert.deepEqual([displayName, description, activeVersion], ["First", "old", "1"]);
  await published({ name: "named", version: "2", displayName: "First" });
  assert.equal((await get(id)).description, null);
});

test("of many uploads of one version at the same moment one is accepted, and of many versions all, into one extension", async () => {
  const same = await Promise.all(Array.from({ length: 4 }, () => publish(foxe({ name: "race" }))));
  assert.deepEqual(same.map(({ status }) => status).sort(), [200, 409, 409, 409]);
  const versions = ["a", "b", "c", "d"].map((version) => publish(foxe({ name: "versions race", version })));
  const answers = await Promise.all(versions);
  assert.deepEqual(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size, 1);
  assert.equal(answers[0]!.status, 200);
});

test("a refused package leaves nothing stored", async () => {
  const before = await storedKeys();
  for (const bytes of [Buffer.from("no zip"), foxe({ name: "" }), Buffer.alloc(0), makeZip([])])
    assert.equal((await publish(bytes)).status, 400);
  await published({ name: "twice" });
  assert.equal((await publish(foxe({ name: "twice" }))).status, 409);
  assert.equal((await storedKeys()).length, before.length + 1);
});

slowTest("a package of 64 MiB is accepted, a larger one is 413, with its length declared or not", async () => {
  const before = await storedKeys();
  const overhead = foxe({ name: "large" }, { name: "filler", content: "", isStored: true }).length;
  const filler = (more: number) => ({
    name: "filler",
    content: Buffer.alloc(MAX_EXTENSION_BYTES - overhead + more),
    isStored: true,
  });
  const whole = foxe({ name: "large" }, filler(0));
  assert.equal(whole.length, MAX_EXTENSION_BYTES);
  const larger = foxe({ name: "larger" }, filler(1));
  for (const body of [larger, Readable.from(pieces(larger))]) {
    const refused = await send({ body });
    assert.deepEqual([refused.status, refused.body.code], [413, "BodyTooLarge"]);
  }
  assert.equal((await storedKeys()).length, before.length);
  const taken = await send({ body: Readable.from(pieces(whole)) });
  assert.equal(taken.status, 200);
  assert.equal((await get(String(taken.body.id))).sha256Sum, sha256(whole));
});

test("publishing accepts application/octet-stream only: 415", async () => {
  for (const type of ["application/json", "multipart/form-data; boundary=x", "application/zip", undefined]) {
    const refused = await send({ body: foxe({}), type });
    assert.deepEqual([refused.status, refused.body.code], [415, "UnsupportedMediaType"]);
  }
  const taken = await send({ body: foxe({ name: "typed" }), type: "Application/Octet-Stream; x=y" });
  assert.equal(taken.status, 200);
});

test("publishing needs a key with extensions.create and for all projects: 401, 403", async () => {
  const body = foxe({ name: "unauthorized" });
  const project = await admin.call(api.projects.create, { name: "one of them" });
  const limited = await cloud.addKey(capabilities, [project.id]);
  const without = await cloud.addKey(capabilities.filter((held) => held !== "extensions.create"));
  const { token: deviceToken } = await admin.call(api.deviceTokens.create, {
    deviceId: (await admin.call(api.devices.get, { nameOrId: "robot" })).id,
  });
  for (const [token, status, code] of [
    [undefined, 401, "Unauthenticated"],
    ["dl_sk_unknown", 401, "Unauthenticated"],
    [without, 403, "MissingCapability"],
    [limited, 403, "ProjectLimited"],
    [deviceToken!, 403, "WrongCredentialKind"],
  ] as const) {
    const refused = await send({ body, token: token ?? "" });
    assert.deepEqual([refused.status, refused.body.code], [status, code]);
  }
  assert.equal((await send({ body, token: await cloud.addKey(["extensions.create"]) })).status, 200);
});

test("a deleted extension is gone with all its versions and their packages; it may be published again", async () => {
  const before = await storedKeys();
  const id = await published({ name: "brief", version: "1" });
  await published({ name: "brief", version: "2" });
  const { foxe: link } = await get(id);
  assert.deepEqual(await admin.call(api.extensions.delete, { id }), { id });
  await assert.rejects(get(id), refusedWith("NotFound"));
  await assert.rejects(admin.call(api.extensions.delete, { id }), refusedWith("NotFound"));
  assert.deepEqual(await eventually(storedKeys, (keys) => keys.length === before.length), before);
  assert.equal((await fetch(link)).status, 404);
  assert.notEqual(await published({ name: "brief", version: "1", displayName: "Another" }), id);
});

test("another organization's extensions are neither listed, found nor deleted, and their names can be used", async () => {
  const other = await cloud.otherOrganization();
  const token = await otherKey(other);
  const theirs = await send({ body: foxe({ name: "shared name" }), token });
  const id = String(theirs.body.id);
  for (const call of [() => get(id), () => admin.call(api.extensions.delete, { id })])
    await assert.rejects(call(), refusedWith("NotFound"));
  assert.ok((await admin.call(api.extensions.list, {})).every((extension) => extension.id !== id));
  assert.notEqual(await published({ name: "shared name" }), id);
  assert.deepEqual(
    (await other.call(api.extensions.list, {})).map((extension) => extension.id),
    [id],
  );
});

test("lists are in the order of creation and come in pages", async () => {
  const all = await admin.call(api.extensions.list, {});
  const ids = (list: Extension[]) => list.map(({ id }) => id);
  assert.deepEqual(ids(all), [...ids(all)].sort());
  assert.deepEqual(await admin.call(api.extensions.list, { limit: 2, offset: 1 }), all.slice(1, 3));
  assert.deepEqual(await admin.call(api.extensions.list, { limit: 0 }), []);
});

function foxe(manifest: Record<string, unknown>, ...files: ZipFile[]): Buffer {
  const whole = { name: "x", publisher: "acme", version: "1", displayName: "X", ...manifest };
  const code = { name: "dist/extension.js", content: randomBytes(64) };
  return makeZip([{ name: "package.json", content: JSON.stringify(whole) }, code, ...files]);
}

function* pieces(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 1 << 20) yield bytes.subarray(at, at + (1 << 20));
}

interface Sent {
  readonly body: Buffer | Readable;
  readonly type?: string | undefined;
  readonly token?: string;
}

async function send({ body, token = adminKey, ...given }: Sent) {
  const type = "type" in given ? given.type : "application/octet-stream";
  const response = await request(`${cloud.url}/v1/extension-upload`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, ...(type !== undefined && { "content-type": type }) },
    body,
  });
  return { status: response.statusCode, body: (await response.body.json()) as Record<string, unknown> };
}

function publish(body: Buffer) {
  return send({ body });
}

async function published(manifest: Record<string, unknown>): Promise<string> {
  const { status, body } = await publish(foxe(manifest));
  assert.equal(status, 200, JSON.stringify(body));
  return String(body.id);
}

async function storedKeys(): Promise<string[]> {
  return (await Array.fromAsync(cloud.deps.blobs.list(`${orgId}/`), ({ key }) => key)).sort();
}

async function otherKey(other: Client): Promise<string> {
  const key = await other.call(api.apiKeys.create, { name: "publisher", capabilities: ["extensions.create"] });
  return key.token!;
}
