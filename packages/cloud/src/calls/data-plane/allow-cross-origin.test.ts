import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { makeMcap, slowTest } from "@downlink/recordings/testing";
import { readConfig } from "../../config.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { putFile, uploadFile } from "../../testing/upload-file.ts";

const ORIGIN = "https://console.example.org";
const cloud = await startCloud(
  { after },
  { environment: { DOWNLINK_LINK_ORIGINS: `${ORIGIN}, https://viewer.example` } },
);
const closed = await startCloud({ after }, { works: false });
const newLink = (at: typeof cloud) => at.admin.call(api.uploads.create, { filename: "a.mcap", deviceName: "robot" });
const preflight = (link: string, origin: string) =>
  fetch(link, { method: "OPTIONS", headers: { origin, "access-control-request-method": "PUT" } });

test("pages of an origin that the operator names may call links, send to them and read the answers; other pages may not", async () => {
  const { link } = await newLink(cloud);
  const asked = await preflight(link, ORIGIN);
  assert.deepEqual([asked.status, asked.headers.get("access-control-allow-origin")], [204, ORIGIN]);
  assert.match(asked.headers.get("access-control-allow-methods")!, /PUT/);
  assert.equal(asked.headers.get("access-control-allow-credentials"), null);
  const headers = { origin: ORIGIN, "content-type": "application/octet-stream" };
  const sent = await putFile(link, await makeMcap({ durationSeconds: 1 }), headers);
  assert.deepEqual([sent.status, sent.headers.get("access-control-allow-origin")], [200, ORIGIN]);
  for (const origin of ["https://console.example.org.evil.example", "null", "https://viewer.example:8443"]) {
    const refused = await preflight((await newLink(cloud)).link, origin);
    assert.equal(refused.headers.get("access-control-allow-origin"), null, origin);
  }
});

test("a refusal of a link can be read too, and only links are open to other pages", async () => {
  const { link } = await newLink(cloud);
  const broken = await fetch(link.replace(/s=[^&]*/, `s=${"A".repeat(43)}`), {
    method: "PUT",
    headers: { origin: ORIGIN },
  });
  assert.deepEqual([broken.status, broken.headers.get("access-control-allow-origin")], [403, ORIGIN]);
  const headers = { origin: ORIGIN, authorization: `Bearer ${cloud.adminKey}` };
  const listed = await fetch(`${cloud.url}/v1/devices`, { headers });
  assert.deepEqual([listed.status, listed.headers.get("access-control-allow-origin")], [200, null]);
});

test("without the setting pages of other origins may not use links", async () => {
  const { link } = await newLink(closed);
  assert.equal((await preflight(link, ORIGIN)).headers.get("access-control-allow-origin"), null);
});

test("an invalid origin is refused at the start", () => {
  for (const origins of [
    "console.example.org",
    "https://console.example.org/",
    "https://a.example,",
    "javascript:alert(1)",
  ])
    assert.throws(() => readConfig({ DOWNLINK_LINK_ORIGINS: origins }), /DOWNLINK_LINK_ORIGINS/);
  assert.deepEqual(readConfig({ DOWNLINK_LINK_ORIGINS: "*" }).linkOrigins, ["*"]);
});

slowTest("pages can read until when a link is valid, and the file name of an export", async () => {
  const dayNs = 86_400_000_000_000n;
  const beforeNs = BigInt(Date.now()) * 1_000_000n;
  const upload = await newLink(cloud);
  assert.ok(upload.linkExpiresAt >= beforeNs + dayNs && upload.linkExpiresAt < beforeNs + dayNs + 60_000_000_000n);
  const startNs = 1_776_135_612_123_456_789n;
  const { recordingId } = await uploadFile(cloud, await makeMcap({ startNs, durationSeconds: 2 }), {
    filename: "x.mcap",
    deviceName: "rover-2",
  });
  const link = await cloud.admin.call(api.exports.create, { recordingId: recordingId!, topics: ["/imu"] });
  assert.ok(link.linkExpiresAt > beforeNs && link.linkExpiresAt < beforeNs + 60_000_000_000n);
  assert.equal(link.fileName, "rover-2_2026-04-14T03-00-12Z_imu.mcap");
  const answer = await fetch(link.link);
  await answer.arrayBuffer();
  assert.match(
    answer.headers.get("content-disposition")!,
    /^attachment; filename="rover-2_2026-04-14T03-00-12Z_imu\.mcap"/,
  );
  const later = await cloud.admin.call(api.exports.create, {
    recordingId: recordingId!,
    start: startNs + 1_000_000_000n,
  });
  assert.equal(later.fileName, "rover-2_2026-04-14T03-00-13Z.mcap");
});

test("pages of an origin that the operator names may call the API with a token, and read headers; other pages may not", async () => {
  const open = await startCloud({ after }, { works: false, environment: { DOWNLINK_API_ORIGINS: ORIGIN } });
  const asked = {
    "access-control-request-method": "PATCH",
    "access-control-request-headers": "authorization,if-match",
  };
  const preflightOf = (origin: string) =>
    fetch(`${open.url}/v1/devices/robot`, { method: "OPTIONS", headers: { origin, ...asked } });
  const allowed = await preflightOf(ORIGIN);
  assert.deepEqual([allowed.status, allowed.headers.get("access-control-allow-origin")], [204, ORIGIN]);
  assert.match(allowed.headers.get("access-control-allow-methods")!, /PATCH/);
  assert.equal(allowed.headers.get("access-control-allow-credentials"), null);
  assert.equal((await preflightOf("https://evil.example")).headers.get("access-control-allow-origin"), null);
  const headers = { origin: ORIGIN, authorization: `Bearer ${open.adminKey}` };
  const listed = await fetch(`${open.url}/v1/devices`, { headers });
  assert.deepEqual([listed.status, listed.headers.get("access-control-allow-origin")], [200, ORIGIN]);
  const vary = listed.headers.get("vary")!.split(", ").sort();
  assert.deepEqual(vary, ["Accept-Encoding", "Authorization", "Origin"], "caches keep what differs apart");
});
