import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, ErrorBody, MISSING_HEADER, type MissingData } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, startAgent } from "../../testing/test-agent.ts";
import { uploadFile } from "../../testing/upload-file.ts";

const SECOND = 1_000_000_000n;
const START = 1_760_000_000n * SECOND;
const cloud = await startCloud({ after });
const { admin } = cloud;
const agent = await startAgent(cloud, "robot");
const { deviceId } = agent;
const items = [20n, 40n, 60n, 1000n].map((at) => recordingItem({ start: START + at * SECOND }));
await agent.report(items);
const { projectId } = await admin.call(api.devices.get, { nameOrId: deviceId });
const bytes = await makeMcap({ startNs: START, durationSeconds: 2 });
const { recordingId } = await uploadFile(cloud, bytes, { filename: "here.mcap", deviceId });
const edge = await admin.call(api.recordings.list, { deviceId, start: START + 20n * SECOND, sortBy: "start" });
const [first, asked, failed] = edge.map(({ id }) => id) as [string, string, string];
await admin.call(api.recordings.requestImport, { keyOrId: asked });
await admin.call(api.recordings.requestImport, { keyOrId: failed });
const { work } = await agent.call(api.edge.work, {});
const [request] = work.imports.filter(({ versionId }) => versionId === items[2]!.versionId);
const { requestId, versionId } = request!;
await agent.call(api.edge.failImport, { requestId, versionId, code: "FileUnreadable", text: "" });

type Body = CallInput<typeof api.exports.create>;
const window = { start: START, end: START + 100n * SECOND };
const ask = (body: Body, client = admin) => client.call(api.exports.create, body);
const expected: MissingData = {
  recordings: 3,
  reasons: [
    { reason: "at-edge", count: 1 },
    { reason: "failed", count: 1 },
    { reason: "not-imported", count: 1 },
  ],
  recordingIds: [first, asked, failed],
};

function sorted(missing: MissingData | undefined) {
  return missing && { ...missing, reasons: missing.reasons.toSorted((a, b) => (a.reason < b.reason ? -1 : 1)) };
}

/** Returns the body of a refusal. */
async function refusalOf(body: Body): Promise<ErrorBody> {
  const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };
  const text = JSON.stringify(body, (_, value) => (typeof value === "bigint" ? timeText(value) : value));
  const answer = await fetch(`${cloud.url}/v1/data/stream`, { method: "POST", headers, body: text });
  assert.ok(answer.status >= 400);
  return ErrorBody.parse(await answer.json());
}

function timeText(ns: bigint): string {
  return new Date(Number(ns / 1_000_000n)).toISOString();
}

test("an export says which selected recordings it does not hold, and why: in the answer and in the stream's header", async () => {
  const { link, missing } = await ask({ deviceId, ...window });
  assert.deepEqual(sorted(missing), expected);
  const { headers } = await fetch(link);
  const { recordingIds: _, ...shown } = expected;
  assert.deepEqual(sorted(JSON.parse(headers.get(MISSING_HEADER)!)), shown);
  assert.match(headers.get("access-control-expose-headers")!, new RegExp(MISSING_HEADER));
});

test("what is whole says nothing, and recordings outside of the window are not missed", async () => {
  const whole = await ask({ deviceId, start: START, end: START + SECOND });
  assert.equal(whole.missing, undefined);
  assert.equal((await fetch(whole.link)).headers.get(MISSING_HEADER), null);
  assert.equal((await ask({ recordingId: recordingId! })).missing, undefined);
});

test("requireComplete refuses what is not whole, with the same list: 409", async () => {
  const refusal = await refusalOf({ deviceId, ...window, requireComplete: true });
  assert.deepEqual([refusal.code, sorted(refusal.missing)], ["Incomplete", expected]);
  assert.match(refusal.error, /^3 of the selected recordings cannot be streamed/);
  assert.ok((await ask({ recordingId: recordingId!, requireComplete: true })).link);
});

test("a selection of which nothing is imported says how to import it", async () => {
  for (const body of [{ recordingId: first }, { deviceId, start: START + 20n * SECOND, end: START + 21n * SECOND }]) {
    const { code, error, missing } = await refusalOf(body);
    assert.deepEqual([code, missing?.recordingIds], ["NoStreamableRecordings", [first]]);
    assert.match(error, /1 on the device only.*POST \/v1\/recordings\/\{id\}\/import/);
  }
});

test("an episode still names a recording that was deleted", async () => {
  const other = await makeMcap({ startNs: START + 4n * SECOND, durationSeconds: 2, seed: 7 });
  const doomed = await uploadFile(cloud, other, { filename: "doomed.mcap", deviceId });
  const recordings = [recordingId!, doomed.recordingId!];
  const item = { recordings, startTime: START, endTime: START + 9n * SECOND };
  const { episodes } = await admin.call(api.episodes.getOrCreate, { projectId, episodes: [item] });
  const episodeId = episodes[0]!.id;
  assert.equal((await ask({ episodeId })).missing, undefined);
  await admin.call(api.recordings.delete, { keyOrId: doomed.recordingId! });
  const { missing } = await ask({ episodeId });
  assert.deepEqual(missing?.reasons, [{ reason: "deleted", count: 1 }]);
  assert.deepEqual(missing?.recordingIds, [doomed.recordingId]);
  assert.equal((await ask({ episodeId, end: START + 3n * SECOND })).missing, undefined);
});

test("a view link says it too, and a key of another project learns of nothing", async () => {
  const { missing } = await admin.call(api.viewLinks.create, { deviceId, ...window });
  assert.deepEqual(sorted(missing), expected);
  const other = await admin.call(api.projects.create, { name: "other" });
  const limited = cloud.withToken(await cloud.addKey(["data.stream"], [other.id]));
  await assert.rejects(ask({ deviceId, ...window }, limited), refusedWith("NotFound"));
});
