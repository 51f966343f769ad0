import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, type Topic } from "@downlink/protocol";
import { eventually, type McapSpec, makeMcap, slowTest } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { deliver, recordingItem, startAgent } from "../../testing/test-agent.ts";
import { uploadFile } from "../../testing/upload-file.ts";

const SECOND = 1_000_000_000n;
const START = 1_760_000_000n * SECOND;
const cloud = await startCloud({ after });
const { admin } = cloud;
const other = await cloud.otherOrganization();

type ListQuery = CallInput<typeof api.topics.list>;
const list = (query: ListQuery = {}) => admin.call(api.topics.list, query);
const names = (found: readonly Topic[]) => found.map(({ topic }) => topic);
const say = (query: ListQuery) =>
  JSON.stringify(query, (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value));
const isNotFound = refusedWith(404);

const topic = (name: string, kind: "imu" | "gps" | "camera" | "log" | "blob", rateHz = 4) => ({
  topic: name,
  kind,
  rateHz,
});

async function record(
  key: string,
  spec: McapSpec,
  body: { deviceName?: string; sessionKey?: string; projectId?: string },
) {
  const bytes = await makeMcap({ durationSeconds: 1, ...spec });
  const { recordingId } = await uploadFile(cloud, bytes, { filename: `${key}.mcap`, key, ...body });
  return admin.call(api.recordings.get, { keyOrId: recordingId! });
}

const first = await record(
  "first/1 %",
  { startNs: START, topics: [topic("/imu", "imu"), topic("/log", "log")] },
  { deviceName: "a", sessionKey: "morning" },
);
const second = await record(
  "second",
  { startNs: START + 10n * SECOND, topics: [topic("/imu", "gps"), topic("/camera", "camera")] },
  { deviceName: "a" },
);
await record(
  "third",
  { startNs: START + 20n * SECOND, topics: [topic("/imu", "imu"), topic("/blob", "blob")] },
  { deviceName: "b" },
);
const slow = { topics: [topic("/slow", "log", 0.001)], startNs: START - 100_000n * SECOND, durationSeconds: 90_000 };
const long = await record("long", slow, {}); // more than a day, of no device

const agent = await startAgent(cloud, "edge");
const atEdge = recordingItem({
  key: "at-edge",
  topics: [
    {
      topic: "/edge",
      version: "v1",
      encoding: "json",
      schemaName: "",
      schemaEncoding: "",
      schemaSha256: "0".repeat(64),
      messageCount: 7,
    },
  ],
});

const all = ["/blob", "/camera", "/imu", "/imu", "/log", "/slow"];
const ofA = ["/camera", "/imu", "/imu", "/log"];

test("a topic is listed once in each of its versions, whatever the number of recordings", async () => {
  assert.deepEqual(names(await list()), all);
  const versions = new Set((await list()).filter((found) => found.topic === "/imu").map(({ version }) => version));
  assert.equal(versions.size, 2);
});

test("a topic shows encoding and schema; the schema in base 64 only with includeSchemas, and empty if there is none", async () => {
  const [log] = (await list({ includeSchemas: true })).filter((found) => found.topic === "/log");
  const { schema, version: _, ...shown } = log!;
  assert.deepEqual(shown, {
    topic: "/log",
    encoding: "json",
    schemaName: "foxglove.Log",
    schemaEncoding: "jsonschema",
  });
  assert.equal(JSON.parse(Buffer.from(schema!, "base64").toString()).title, "foxglove.Log");
  const [blob] = await list({ includeSchemas: true, recordingKey: "third" });
  assert.deepEqual([blob!.topic, blob!.schemaName, blob!.schema], ["/blob", "", ""]);
  assert.ok((await list()).every((found) => found.schema === undefined));
});

test("recordings are selected by id, key, importId, session and device, or several of these", async () => {
  const { importId } = await cloud.deps.db.prisma.recording.findUniqueOrThrow({ where: { id: second.id } });
  const { sessionId } = first;
  const deviceId = first.device!.id;
  const selections: [ListQuery, string[]][] = [
    [{ recordingId: first.id }, ["/imu", "/log"]],
    [{ recordingKey: "first/1 %" }, ["/imu", "/log"]],
    [{ importId: importId! }, ["/camera", "/imu"]],
    [{ sessionId: sessionId! }, ["/imu", "/log"]],
    [{ sessionKey: "morning" }, ["/imu", "/log"]],
    [{ deviceId }, ofA],
    [{ deviceName: "a" }, ofA],
    [{ deviceId, recordingKey: "second" }, ["/camera", "/imu"]],
    [{ deviceName: "b", recordingKey: "second" }, []],
    [{ sessionKey: "morning", start: first.end + 1n }, []],
    [{ sessionKey: "morning", start: first.end }, ["/imu", "/log"]],
  ];
  for (const [query, expected] of selections) assert.deepEqual(names(await list(query)), expected, say(query));
  for (const query of [{ recordingId: "rec_unknown" }, { sessionKey: "unknown" }, { deviceName: "unknown" }])
    await assert.rejects(list(query), isNotFound, say(query));
});

test("`start`: recordings ending on or after; `end`: recordings starting on or before; to the nanosecond", async () => {
  const { start, end } = second;
  const windows: [ListQuery, string[]][] = [
    [{ start: end, end }, ["/camera", "/imu"]],
    [{ start, end: start }, ["/camera", "/imu"]],
    [{ start: end + 1n, end: end + 1n }, []],
    [{ start: start - 1n, end: start - 1n }, []],
    [{ end: first.start }, ["/imu", "/log", "/slow"]],
    [{ end: first.start - 1n }, ["/slow"]],
    [{ start: end + 1n }, ["/blob", "/imu"]],
    [{ start: end, end: end - 1n }, []],
    [{ deviceName: "a", start }, ["/camera", "/imu"]],
    [{ deviceName: "a", end: start - 1n }, ["/imu", "/log"]],
  ];
  for (const [query, expected] of windows) assert.deepEqual(names(await list(query)), expected, say(query));
});

test("a recording of more than a day is found by any time that it spans", async () => {
  for (const start of [long.start, long.end - 1n, long.end])
    assert.deepEqual(names(await list({ start, end: start })), ["/slow"]);
  assert.deepEqual(await list({ start: long.end + 1n, end: long.end + 1n }), []);
});

test("topics are sorted by topic and version, or by version and topic, either way, and paged", async () => {
  const byTopic = await list();
  const keyed = (found: readonly Topic[]) => found.map(({ topic, version }) => `${version} ${topic}`);
  assert.deepEqual(await list({ sortBy: "topic", sortOrder: "desc" }), byTopic.toReversed());
  const byVersion = await list({ sortBy: "version" });
  assert.deepEqual(keyed(byVersion), keyed(byTopic).sort());
  assert.deepEqual(await list({ sortBy: "version", sortOrder: "desc" }), byVersion.toReversed());
  assert.deepEqual(await list({ limit: 2, offset: 1 }), byTopic.slice(1, 3));
  assert.deepEqual(await list({ sortBy: "version", limit: 2, offset: 3 }), byVersion.slice(3, 5));
  assert.deepEqual(await list({ limit: 0 }), []);
  assert.deepEqual(await list({ offset: 100 }), []);
});

test("topics of not-imported recordings are returned only when no parameter other than recordingId or recordingKey is given", async () => {
  await agent.report([atEdge]);
  const { id: recordingId } = await admin.call(api.recordings.get, { keyOrId: "at-edge" });
  assert.deepEqual(names(await list({ recordingId })), ["/edge"]);
  assert.deepEqual(names(await list({ recordingKey: "at-edge" })), ["/edge"]);
  const withOthers: ListQuery[] = [
    { recordingId, start: atEdge.start },
    { recordingId, end: atEdge.end },
    { recordingId, deviceName: "edge" },
    { recordingKey: "at-edge", deviceId: agent.deviceId },
  ];
  for (const query of withOthers) assert.deepEqual(await list(query), [], say(query));
  assert.deepEqual(await list({ deviceName: "edge" }), []);
  assert.deepEqual(names(await list()), all);
});

test("options, paging and the project of a key select no recordings, so they hide no topics", async () => {
  const { projectId } = await admin.call(api.recordings.get, { keyOrId: "at-edge" });
  const options: ListQuery = {
    includeSchemas: false,
    sortBy: "version",
    sortOrder: "desc",
    limit: 10,
    offset: 0,
    projectId,
  };
  assert.deepEqual(names(await list({ recordingKey: "at-edge", ...options })), ["/edge"]);
});

slowTest("topics leave the lists with the imported data, and are back with the next import", async () => {
  const bytes = await makeMcap({ startNs: START + 50n * SECOND, durationSeconds: 1, topics: [topic("/again", "log")] });
  const item = recordingItem({ key: "again", size: bytes.length, start: START + 50n * SECOND });
  await agent.report([item]);
  for (const _ of ["once", "twice"]) {
    await admin.call(api.recordings.requestImport, { keyOrId: "again" });
    await deliver(agent, item, bytes);
    const status = async () => (await admin.call(api.recordings.get, { keyOrId: "again" })).importStatus;
    await eventually(status, (importStatus) => importStatus === "complete");
    assert.deepEqual(names(await list({ deviceName: "edge" })), ["/again"]);
    assert.deepEqual(names(await list({ start: START + 50n * SECOND })), ["/again"]);
    await admin.call(api.recordings.delete, { keyOrId: "again" });
    assert.deepEqual(await list({ deviceName: "edge" }), []);
    assert.deepEqual(names(await list()), all);
    assert.deepEqual(names(await list({ recordingKey: "again" })), ["/again"], "of the recording at the edge");
  }
});

test("another organization sees no topics; a key limited to some projects sees those of their recordings", async () => {
  const asked = (query: ListQuery) => other.call(api.topics.list, query);
  assert.deepEqual(await asked({}), []);
  const keys = [{ recordingId: first.id }, { recordingKey: "second" }, { sessionKey: "morning" }];
  for (const query of [...keys, { deviceId: first.device!.id }, { deviceName: "a" }, { projectId: first.projectId }])
    await assert.rejects(asked(query), isNotFound, say(query));

  const { id: projectId } = await admin.call(api.projects.create, { name: "second" });
  const spec = { startNs: START, topics: [topic("/imu", "imu"), topic("/there", "log")] };
  await record("there", spec, { projectId, deviceName: "there" });
  const limited = cloud.withToken(await cloud.addKey(["data.topics.list"], [projectId]));
  assert.deepEqual(names(await limited.call(api.topics.list, {})), ["/imu", "/there"]);
  await assert.rejects(limited.call(api.topics.list, { recordingId: first.id }), isNotFound);
  await assert.rejects(limited.call(api.topics.list, { deviceId: first.device!.id }), isNotFound);
  await assert.rejects(limited.call(api.topics.list, { projectId: first.projectId }), isNotFound);
  assert.deepEqual(names(await list({ projectId })), ["/imu", "/there"]);
  assert.deepEqual(names(await list()), [...all, "/there"], "of all projects, each once");
});
