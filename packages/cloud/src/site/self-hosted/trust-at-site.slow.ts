import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { startCloud } from "../../testing/start-cloud.ts";
import { createSite, startConnected, startSite } from "../../testing/start-site.ts";
import { endOfImport, putFile } from "../../testing/upload-file.ts";

const HOUR_MS = 3_600_000;

/** Starts a site that has one recording, and returns an address of its export. */
async function startWithRecording(t: TestContext) {
  const cloud = await startCloud(t);
  const plant = await createSite(t, cloud, "plant");
  const site = await startConnected(cloud, plant);
  const { admin } = cloud;
  const upload = { filename: "a.mcap", deviceName: "robot", siteId: plant.siteId };
  const { link: target, requestId } = await admin.call(api.uploads.create, upload);
  assert.equal((await putFile(target, await makeMcap({ durationSeconds: 1 }))).status, 200);
  const { recordingId } = await endOfImport(cloud, requestId);
  const { link } = await admin.call(api.exports.create, { recordingId: recordingId! });
  return { cloud, plant, site, link, port: new URL(site.url).port };
}

const statusOf = async (url: string) => {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status;
};

test("a site whose token was deleted is not ready and opens no link, also after another start, until it has a token", async (t) => {
  const { cloud, plant, site, link, port } = await startWithRecording(t);
  const [token] = await cloud.admin.call(api.siteTokens.list, { siteId: plant.siteId });
  {
    await using _closes = site;
    assert.deepEqual([await statusOf(`${site.url}/readyz`), await statusOf(link)], [200, 200]);
    await cloud.admin.call(api.siteTokens.delete, { id: token!.id });
    await eventually(
      () => statusOf(`${site.url}/readyz`),
      (status) => status === 503,
    );
    assert.equal(await statusOf(link), 403);
    assert.match(await (await fetch(`${site.url}/readyz`)).text(), /does not accept the site's token/);
  }
  {
    await using again = await startSite({ ...plant, port, controlPlane: "http://127.0.0.1:9" });
    assert.deepEqual([await statusOf(`${again.url}/readyz`), await statusOf(link)], [503, 403]);
  }
  const { token: another } = await cloud.admin.call(api.siteTokens.create, { siteId: plant.siteId });
  await using again = await startSite({ ...plant, port, token: another! });
  await eventually(
    () => statusOf(`${again.url}/readyz`),
    (status) => status === 200,
  );
  assert.equal(await statusOf(link), 200);
});

test("links are judged by the control plane's time, also if the site's clock jumped while the site was stopped", async (t) => {
  const { plant, site, link, port } = await startWithRecording(t);
  const file = join(plant.dataDir, "site.json");
  await site[Symbol.asyncDispose]();
  const kept = JSON.parse(await readFile(file, "utf8"));
  kept.facts.clockAheadMs += HOUR_MS; // as if the machine's clock had been an hour behind before
  await writeFile(file, JSON.stringify(kept));
  {
    await using _again = await startSite({ ...plant, port });
    assert.equal(await statusOf(link), 200);
  }
  kept.facts.clockAheadMs = HOUR_MS;
  await writeFile(file, JSON.stringify(kept));
  await using _alone = await startSite({ ...plant, port, controlPlane: "http://127.0.0.1:9" });
  assert.equal(await statusOf(link), 403, "without a control plane the clocks are taken to differ as before");
});
