import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { request } from "undici";
import { Browser } from "../../organization/sign-in/testing/browser.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { putFile, uploadFile } from "../../testing/upload-file.ts";

const clock = createRunningClock();
const cloud = await startCloud({ after }, { clock });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
const bytes = await makeMcap({ attachments: [{ name: "map", mediaType: "text/plain", data: Buffer.from("here") }] });
const { recordingId } = await uploadFile(cloud, bytes, { filename: "drive.mcap", deviceName: "robot" });
const [attachment] = await admin.call(api.attachments.list, {});
let made = 0;

/** Makes a link of each kind with this authorization, and returns what says how each is answered. */
async function makeLinks(headers: Record<string, string>) {
  const send = (path: string, body?: object) =>
    fetch(`${cloud.url}${path}`, {
      headers: { ...headers, "content-type": "application/json", origin: cloud.url },
      redirect: "manual",
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
  const linkOf = async (answer: Response) => ((await answer.json()) as { link: string }).link;
  const upload = await linkOf(await send("/v1/data/upload", { filename: `${++made}.mcap`, deviceName: "robot" }));
  const exported = await linkOf(await send("/v1/data/stream", { recordingId }));
  const { location } = Object.fromEntries((await send(`/v1/recording-attachments/${attachment!.id}/download`)).headers);
  const statusOf = async (answer: Response) => [answer.status, (await answer.text()).includes("LinkExpired")];
  return async () => ({
    upload: await statusOf(await putFile(upload, "no recording")),
    export: await statusOf(await fetch(exported, { headers: { range: "bytes=0-0" } })),
    attachment: await statusOf(await fetch(location!)),
  });
}

const ended = { upload: [403, true], export: [403, true], attachment: [403, true] };
const sound = { upload: [200, false], export: [200, false], attachment: [200, false] };

test("links of all kinds end with the key that made them, when it is disabled, expires or is deleted", async () => {
  const capabilities = ["*" as const];
  const create = (more: object = {}) =>
    admin.call(api.apiKeys.create, { name: `key ${++made}`, capabilities, ...more });
  const [kept, disabled, expiring, deleted] = [await create(), await create(), await create(), await create()];
  const ask = await Promise.all(
    [kept, disabled, expiring, deleted].map(({ token }) => makeLinks({ authorization: `Bearer ${token}` })),
  );
  await admin.call(api.apiKeys.update, { id: disabled.id, enabled: false });
  await prisma.credential.updateMany({ where: { apiKeyId: expiring.id }, data: { expiresAtNs: clock.nowNs() } });
  await admin.call(api.apiKeys.delete, { id: deleted.id });
  assert.deepEqual(await Promise.all(ask.map((answers) => answers())), [sound, ended, ended, ended]);
});

test("links of all kinds end with the session that made them, when it signs out or its member is removed", async () => {
  const newBrowser = async () => {
    const email = `person-${++made}@example.org`;
    const { link } = await admin.call(api.invitations.create, { email, role: "admin" });
    const browser = new Browser(cloud);
    await browser.accept(link!);
    return browser;
  };
  const [kept, signsOut, removed] = [await newBrowser(), await newBrowser(), await newBrowser()];
  const ask = await Promise.all([kept, signsOut, removed].map(({ cookie }) => makeLinks({ cookie: cookie! })));
  await signsOut.ask({ method: "DELETE", path: "/v1/session" });
  const { id } = (await removed.ask({ path: "/v1/me" })).json as { id: string };
  await admin.call(api.members.delete, { id });
  assert.deepEqual(await Promise.all(ask.map((answers) => answers())), [sound, ended, ended]);
});

test("an upload that has begun is cut when its link ends, and leaves nothing", async () => {
  const { id, token } = await admin.call(api.apiKeys.create, { name: "uploads", capabilities: ["*"] });
  const client = cloud.withToken(token!);
  const { link, requestId } = await client.call(api.uploads.create, { filename: "x.mcap", deviceName: "robot" });
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const headers = { "content-type": "application/octet-stream" };
  const answer = fetch(link, { method: "PUT", headers, body: readable, duplex: "half" } as RequestInit);
  void writer.write(bytes);
  await eventually(
    () => prisma.upload.count({ where: { requestId } }),
    (count) => count === 1,
  );
  await admin.call(api.apiKeys.delete, { id });
  assert.equal((await answer).status, 403);
  const uploads = await prisma.upload.findMany({ where: { requestId }, select: { state: true } });
  assert.deepEqual(uploads, [{ state: "removed" }]);
});

test("a download that has begun is cut when its link ends, and one of another key goes on", async (t) => {
  const transfers: AbortController[] = [];
  const { linkMakers } = cloud.deps;
  const hold = linkMakers.hold.bind(linkMakers);
  t.mock.method(linkMakers, "hold", (by: string, transfer: AbortController) => {
    transfers.push(transfer);
    return hold(by, transfer);
  });
  const data = randomBytes(24_000_000); // more than what is buffered on the way
  const file = await makeMcap({ seed: 2, attachments: [{ name: "large", mediaType: "image/png", data }] });
  await uploadFile(cloud, file, { filename: "large.mcap", deviceName: "robot" });
  transfers.length = 0;
  const [large] = (await admin.call(api.attachments.list, {})).filter(({ name }) => name === "large");
  const path = `${cloud.url}/v1/recording-attachments/${large!.id}/download`;
  const begin = async (name: string) => {
    const { id, token } = await admin.call(api.apiKeys.create, { name, capabilities: ["*"] });
    const { headers } = await fetch(path, { headers: { authorization: `Bearer ${token}` }, redirect: "manual" });
    const { body } = await request(headers.get("location")!);
    t.after(() => void body.destroy());
    return { id, body };
  };
  const [ended, kept] = [await begin("ended"), await begin("kept")];
  await admin.call(api.apiKeys.delete, { id: ended.id });
  const states = async () => transfers.map(({ signal }) => signal.aborted);
  assert.deepEqual(await eventually(states, ([first]) => first === true), [true, false]);
  await assert.rejects(ended.body.bytes());
  assert.equal((await kept.body.bytes()).length, data.length);
});
