import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, type RecordingAttachment } from "@downlink/protocol";
import { eventually, makeMcap, slowTest } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { deliver, recordingItem, sha256, startAgent } from "../../testing/test-agent.ts";
import { uploadFile } from "../../testing/upload-file.ts";

const SECOND = 1_000_000_000n;
const START = 1_760_000_000n * SECOND;
const cloud = await startCloud({ after });
const { admin } = cloud;
const { prisma } = cloud.deps.db;

type ListQuery = CallInput<typeof api.attachments.list>;
const list = (query: ListQuery = {}) => admin.call(api.attachments.list, query);
const names = (found: readonly RecordingAttachment[]) => found.map(({ name }) => name);

const params = { name: "params.yaml", mediaType: "application/yaml", data: Buffer.from("gain: 3\n") };
const first = await record("first", { deviceName: "robot", sessionKey: "morning" }, [
  { ...params, logTimeNs: START + 30n * SECOND },
  { name: "map.png", mediaType: "image/png", data: Buffer.alloc(70_000, "map"), logTimeNs: START + 10n * SECOND },
]);
await record("second", { deviceName: "twin" }, [{ ...params, logTimeNs: START + 20n * SECOND }]);
const inOrder = ["map.png", "params.yaml", "params.yaml"];

async function record(
  key: string,
  body: { deviceName?: string; projectId?: string; sessionKey?: string },
  attachments: NonNullable<Parameters<typeof makeMcap>[0]>["attachments"],
) {
  const bytes = await makeMcap({ startNs: START, durationSeconds: 1, attachments, seed: key.length });
  const { recordingId } = await uploadFile(cloud, bytes, { filename: `${key}.mcap`, key, ...body });
  return { recordingId: recordingId!, bytes };
}

test("an attachment carries what the recorder wrote about it, the primary site that holds it, and where its bytes are", async () => {
  const [map, , yaml] = await list();
  const [site] = await admin.call(api.sites.list, {});
  assert.match(yaml!.id, /^att_[0-9a-hjkmnp-tv-z]{26}$/);
  const { id: _, crc, dataOffset, fingerprint, ...shown } = yaml!;
  assert.deepEqual(shown, {
    recordingId: first.recordingId,
    siteId: site!.id,
    name: "params.yaml",
    mediaType: "application/yaml",
    logTime: START + 30n * SECOND,
    createTime: START + 30n * SECOND,
    size: params.data.length,
  });
  assert.ok(Number.isInteger(crc) && crc > 0);
  assert.deepEqual(Buffer.from(first.bytes.subarray(dataOffset, dataOffset + 8)), params.data);
  assert.equal(fingerprint, `sha256:${sha256(params.data)}`);
  assert.deepEqual(await admin.call(api.attachments.get, { id: map!.id }), map);
});

test("identical fingerprints mean identical content", async () => {
  const [map, ofSecond, ofFirst] = await list();
  assert.equal(ofFirst!.fingerprint, ofSecond!.fingerprint);
  assert.notEqual(map!.fingerprint, ofFirst!.fingerprint);
});

test("an attachment imported before fingerprints were computed has a fingerprint of its CRC, if it has a CRC", async () => {
  const [map, ofSecond, ofFirst] = await list();
  await prisma.recordingAttachment.updateMany({ data: { fingerprint: null } });
  await prisma.recordingAttachment.update({ where: { id: ofSecond!.id }, data: { crc: 0 } });
  const [oldMap, withoutCrc] = await list();
  assert.equal(oldMap!.fingerprint, `crc32:${map!.crc}:70000`);
  assert.equal(withoutCrc!.fingerprint, `attachment:${ofSecond!.id}`);
  for (const { id, fingerprint, crc } of [map!, ofSecond!, ofFirst!])
    await prisma.recordingAttachment.update({ where: { id }, data: { fingerprint, crc } });
});

test("attachments are listed by log time in a total order, either way, and paged", async () => {
  const all = await list();
  assert.deepEqual(names(all), inOrder);
  assert.deepEqual(await list({ sortBy: "logTime" }), all);
  assert.deepEqual(await list({ sortOrder: "desc" }), all.toReversed());
  assert.deepEqual(await list({ limit: 1, offset: 1 }), [all[1]]);
  assert.deepEqual(await list({ limit: 0 }), []);
});

test("the list is filtered by recording, site, device, session and project, and all filters apply together", async () => {
  const [map, ofSecond, ofFirst] = await list();
  const { siteId } = map!;
  const [robot, twin] = await admin.call(api.devices.list, { sortBy: "name" });
  const [session] = await admin.call(api.sessions.list, {});
  for (const query of [
    { recordingId: first.recordingId },
    { recordingKey: "first" },
    { deviceId: robot!.id },
    { deviceName: "robot" },
    { sessionId: session!.id },
    { sessionKey: "morning" },
    { sessionKey: "morning", deviceId: robot!.id, recordingKey: "first", siteId, projectId: robot!.projectId },
  ])
    assert.deepEqual(await list(query), [map, ofFirst], JSON.stringify(query));
  const [{ id: importId } = { id: "" }] = await admin.call(api.imports.list, { deviceName: "robot" });
  assert.deepEqual(await list({ importId }), [map, ofFirst]);
  assert.deepEqual(await list({ importId, deviceId: twin!.id }), []);
  assert.deepEqual(await list({ importId: "imp_unknown" }), []);
  assert.deepEqual(await list({ deviceId: twin!.id }), [ofSecond]);
  assert.deepEqual(await list({ siteId }), [map, ofSecond, ofFirst]);
  assert.deepEqual(await list({ deviceId: twin!.id, sessionKey: "morning" }), []);
  for (const query of [
    { recordingId: "rec_unknown" },
    { recordingKey: "unknown" },
    { siteId: "site_unknown" },
    { sessionKey: "unknown" },
    { deviceName: "unknown" },
    { projectId: "prj_unknown" },
  ])
    await assert.rejects(list(query), refusedWith(404), JSON.stringify(query));
});

slowTest(
  "an edge recording's attachments appear when it is imported, go with its data, and come back with them",
  async () => {
    const agent = await startAgent(cloud, "edge-robot");
    const data = Buffer.from("the agent reads no attachment");
    const bytes = await makeMcap({ startNs: START + 99n * SECOND, attachments: [{ name: "notes.txt", data }] });
    const shown = { name: "notes.txt", mediaType: "text/plain", crc: 1, dataOffset: 8, size: data.length };
    const item = recordingItem({
      size: bytes.length,
      attachments: [{ ...shown, logTime: START, createTime: START }],
    });
    await agent.report([item]);
    const [recording] = await admin.call(api.recordings.list, { path: item.path });
    const ofRecording = () => list({ recordingId: recording!.id });
    assert.deepEqual(await ofRecording(), []);
    for (let time = 0; time < 2; time++) {
      await admin.call(api.recordings.requestImport, { keyOrId: recording!.id });
      assert.deepEqual(await ofRecording(), []);
      await deliver(agent, item, bytes);
      const [found] = await eventually(ofRecording, ({ length }) => length === 1);
      assert.equal(found!.fingerprint, `sha256:${sha256(data)}`);
      await admin.call(api.recordings.delete, { keyOrId: recording!.id });
      assert.deepEqual(await ofRecording(), []);
      await assert.rejects(admin.call(api.attachments.get, { id: found!.id }), refusedWith(404));
    }
  },
);

test("a deleted recording's attachments are gone", async () => {
  const { recordingId } = await record("short-lived", { deviceName: "robot" }, [params]);
  const [found] = await list({ recordingId });
  await admin.call(api.recordings.delete, { keyOrId: recordingId });
  assert.ok((await list()).every((one) => one.id !== found!.id));
  await assert.rejects(list({ recordingId }), refusedWith(404));
  await assert.rejects(admin.call(api.attachments.get, { id: found!.id }), refusedWith(404));
});

test("attachments that a deleted site held are in no list", async () => {
  const site = await admin.call(api.sites.create, { name: "closing down", type: "self-hosted" });
  const { recordingId } = await record("moved", { deviceName: "robot" }, [params]);
  await prisma.recordingAttachment.updateMany({ where: { recordingId }, data: { siteId: site.id } });
  assert.equal((await list({ siteId: site.id })).length, 1);
  await admin.call(api.sites.delete, { id: site.id });
  assert.deepEqual(await list({ recordingId }), []);
  await admin.call(api.recordings.delete, { keyOrId: recordingId });
});

test("another organization sees no attachments, and a key limited to projects sees those of its projects", async () => {
  const [map] = await list();
  const other = await cloud.otherOrganization();
  assert.deepEqual(await other.call(api.attachments.list, {}), []);
  await assert.rejects(other.call(api.attachments.get, { id: map!.id }), refusedWith(404));
  const { id: projectId } = await admin.call(api.projects.create, { name: "second" });
  const { recordingId } = await record("elsewhere", { projectId, deviceName: "robot" }, [params]);
  const limited = cloud.withToken(await cloud.addKey(["recordings.list"], [projectId]));
  const seen = await limited.call(api.attachments.list, {});
  assert.deepEqual(
    seen.map((one) => one.recordingId),
    [recordingId],
  );
  assert.deepEqual(await list({ projectId }), seen);
  await assert.rejects(limited.call(api.attachments.get, { id: map!.id }), refusedWith(404));
  await admin.call(api.recordings.delete, { keyOrId: recordingId });
});
