import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, test } from "node:test";
import { api, type CallInput, TrainingMapping } from "@downlink/protocol";
import { eventually, makeMcap, type TopicSpec } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { sendRequest } from "../../testing/send-request.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { uploadFile } from "../../testing/upload-file.ts";
import { buildTrainingSet } from "./build-set.ts";
import { readVersionEpisodes } from "./version-episodes.ts";

const START = 1_760_000_000_000_000_000n;
const SECOND = 1_000_000_000n;
const clock = createRunningClock();
const cloud = await startCloud({ after }, { clock });
const { admin, deps } = cloud;
const { prisma } = deps.db;

/** The number of a message is its value, and its negative. */
const joints: TopicSpec = {
  topic: "/joints",
  kind: "imu",
  rateHz: 100,
  messageAt: ({ sequence }) => ({ position: [sequence, -sequence] }),
};
const camera: TopicSpec = {
  topic: "/camera",
  kind: "camera",
  rateHz: 10,
  messageAt: () => ({ format: "png", data: PNG }),
};
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

async function upload(startNs: bigint): Promise<string> {
  const bytes = await makeMcap({ startNs, durationSeconds: 4, topics: [joints, camera] });
  const { recordingId } = await uploadFile(cloud, Buffer.from(bytes), {
    filename: `${startNs}.mcap`,
    deviceName: "arm",
  });
  return recordingId!;
}

const recordingIds = [await upload(START), await upload(START + 100n * SECOND)];
const { projectId } = await admin.call(api.recordings.get, { keyOrId: recordingIds[0]! });
const asked = recordingIds.map((recordingId, index) => ({
  startTime: START + BigInt(100 * index) * SECOND,
  endTime: START + BigInt(100 * index + 3) * SECOND,
  metadata: { task: "pick" },
  recordings: [recordingId],
}));
const { episodes } = await admin.call(api.episodes.getOrCreate, { projectId, episodes: asked });
const { id } = await admin.call(api.datasets.create, {
  projectId,
  name: "picks",
  episodeIds: episodes.map((one) => one.id),
});
await admin.call(api.datasetVersions.commit, { id });

const mapping = TrainingMapping.parse({
  fps: 20,
  features: {
    state: { dtype: "float32", parts: [{ topic: "/joints", field: "position" }] },
    "observation.images.front": { dtype: "image", parts: [{ topic: "/camera", align: "nearest" }] },
  },
});

const keep = (text = mapping, name = "20hz") => admin.call(api.datasetMappings.create, { id, name, mapping: text });

const build = async (more: Partial<CallInput<typeof api.trainingSets.create>> = {}) =>
  admin.call(api.trainingSets.create, { id, versionNumber: 1, mappingId: (await keep()).id, ...more });

const built = async (setId: string) =>
  eventually(
    () => admin.call(api.trainingSets.get, { id: setId }),
    ({ state }) => state !== "building",
  );

async function fetchFiles(setId: string): Promise<Map<string, Buffer>> {
  const { files } = await admin.call(api.trainingSets.listFiles, { id: setId });
  const fetched = files.map(async ({ path, link, sha256, size }): Promise<[string, Buffer]> => {
    const bytes = Buffer.from(await (await fetch(link)).arrayBuffer());
    assert.equal(bytes.length, size);
    assert.equal(createHash("sha256").update(bytes).digest("hex"), sha256);
    return [path, bytes];
  });
  return new Map(await Promise.all(fetched));
}

test("the same mapping under a name is the one that is there, and another text its next revision", async () => {
  const first = await keep();
  assert.deepEqual(await keep(), first);
  const second = await keep({ ...mapping, fps: 10 });
  assert.deepEqual([first.revision, second.revision], [1, 2]);
  assert.deepEqual(await admin.call(api.datasetMappings.get, { id, mappingId: first.id }), first);
  const { mappings } = await admin.call(api.datasetMappings.list, { id });
  assert.deepEqual(mappings, [second, first]);
  assert.deepEqual(Object.keys(first.mapping.features!), Object.keys(mapping.features!));
});

test("a wrong field of a mapping is refused by its path", async () => {
  const wrong = { ...mapping, features: { state: { dtype: "int64", parts: [{ topic: "/a", align: "interpolate" }] } } };
  const { text, status } = await sendRequest(`${cloud.url}/v1/datasets/${id}/mappings`, {
    method: "POST",
    headers: { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "wrong", mapping: wrong }),
  });
  assert.deepEqual(
    [status, JSON.parse(text).details],
    [
      400,
      [
        {
          path: "mapping.features.state.parts.0.align",
          message: "must be hold or nearest, unless the dtype is a float",
        },
      ],
    ],
  );
});

test("a committed version becomes files that say what they are; a repeat is answered with the same set", async () => {
  const { id: setId, state } = await build();
  assert.equal(state, "building");
  const set = await built(setId);
  assert.deepEqual([set.state, set.progress.episodesDone, set.failure], ["ready", 2, undefined]);
  assert.deepEqual(
    set.episodes!.map(({ rowCount, pieceCount }) => [rowCount, pieceCount]),
    [
      [61, 1],
      [61, 1],
    ],
  );
  const files = await fetchFiles(setId);
  assert.equal(files.size, set.fileCount);
  assert.equal(JSON.parse(files.get("meta/info.json")!.toString()).total_frames, 122);
  const about = JSON.parse(files.get("downlink.json")!.toString());
  assert.deepEqual([about.identity, about.episodes.length], [set.identity, 2]);
  const lines = [...files].filter(([path]) => path !== "downlink.json").sort();
  const text = lines.map(
    ([path, bytes]) => `${createHash("sha256").update(bytes).digest("hex")}  ${bytes.length}  ${path}\n`,
  );
  assert.equal(set.manifestSha256, createHash("sha256").update(text.join("")).digest("hex"));
  assert.equal((await build()).id, setId);
  const { trainingSets } = await admin.call(api.trainingSets.list, { datasetId: id, state: "ready" });
  assert.deepEqual(
    trainingSets.map((one) => one.id),
    [setId],
  );
});

test("a mapping with topics becomes tables of all their messages, which say how many there are", async () => {
  const { id: mappingId } = await keep(TrainingMapping.parse({ topics: ["/joints", "/camera"] }), "tables");
  const set = await built((await build({ mappingId, format: "parquet" })).id);
  assert.deepEqual([set.state, set.format, set.progress.episodesDone, set.failure], ["ready", "parquet", 2, undefined]);
  assert.deepEqual(
    set.episodes!.map(({ rowCount, leftOut }) => [rowCount, leftOut]),
    [
      [332, undefined],
      [332, undefined],
    ],
  );
  const files = await fetchFiles(set.id);
  const paths = [...files.keys()];
  assert.match(
    paths.join(" "),
    /^downlink\.json topics\/camera-\w{8}\/0-000\.parquet topics\/joints-\w{8}\/0-000\.parquet$/,
  );
  const { episodes: kept } = JSON.parse(files.get("downlink.json")!.toString());
  assert.deepEqual(kept[0].messages, { "/joints": 301, "/camera": 31 });
  assert.equal((await build({ mappingId, format: "parquet" })).id, set.id);
});

test("a set that is there is kept as long as any request has asked for", async () => {
  const first = await built((await build({ keepDays: 2 })).id);
  const [longer, shorter] = [await build({ keepDays: 40 }), await build({ keepDays: 1 })];
  assert.deepEqual([longer.id, shorter.id], [first.id, first.id]);
  const days = Number(longer.expiresAt - clock.nowNs()) / 86_400e9;
  assert.ok(days > 39.9 && days <= 40);
  assert.equal(shorter.expiresAt, longer.expiresAt);
});

test("a format is refused for a mapping without what it is made of", async () => {
  const { id: tables } = await keep(TrainingMapping.parse({ topics: ["/joints"] }), "tables");
  await assert.rejects(
    build({ mappingId: tables }),
    refusedWith("InvalidRequest", /mappingId must be a mapping with features/),
  );
  await assert.rejects(
    build({ format: "parquet" }),
    refusedWith("InvalidRequest", /mappingId must be a mapping with topics/),
  );
  const tried = await admin.call(api.trainingSets.tryOut, { id, versionNumber: 1, mappingId: tables });
  const [episode] = tried.episodes;
  assert.deepEqual([episode!.problem, episode!.rowCount, tried.rows], [undefined, 301, []]);
  assert.deepEqual(
    episode!.parts.map(({ topic, messageCount, columns }) => [topic, messageCount, columns]),
    [["/joints", 301, ["timestamp.sec", "timestamp.nsec", "position[]"].map((name) => ({ name, type: "float64" }))]],
  );
  const asRows = { id, versionNumber: 1, mappingId: tables, format: "lerobot-v3" } as const;
  await assert.rejects(
    admin.call(api.trainingSets.tryOut, asRows),
    refusedWith("InvalidRequest", /format is made of features, and the mapping has none/),
  );
});

test("a draft has what all episodes have, and trying it shows what a set would have", async () => {
  const { mapping: drafted, notes } = await admin.call(api.trainingSets.draft, { id, versionNumber: 1 });
  assert.deepEqual(notes, []);
  assert.deepEqual(drafted, {
    topics: ["/camera", "/joints"],
    fps: 10,
    maxGapMs: 150,
    features: {
      "observation.state": { dtype: "float32", parts: [{ topic: "/joints", field: "position" }] },
      "observation.images.camera": { dtype: "image", parts: [{ topic: "/camera", align: "nearest" }] },
    },
  });
  const tried = await admin.call(api.trainingSets.tryOut, { id, versionNumber: 1, mapping: drafted! });
  assert.deepEqual([tried.truncated, tried.task, tried.episodes.length], [false, "pick", 2]);
  const [episode] = tried.episodes;
  assert.deepEqual([episode!.rowCount, episode!.gaps, episode!.problem], [31, [], undefined]);
  assert.deepEqual(
    episode!.parts.map(({ topic, medianRateHz, shape }) => [topic, Math.round(medianRateHz!), shape]),
    [
      ["/joints", 100, [2]],
      ["/camera", 10, [1, 1, 3]],
    ],
  );
  assert.deepEqual(
    tried.rows.map((row) => row["observation.state"]),
    [0, 10, 20, 30, 40].map((value) => [value, 0 - value]),
  );
  const picture = tried.rows[0]!["observation.images.camera"] as { data: string; width: number };
  assert.deepEqual([picture.data, picture.width], [PNG, 1]);
});

test("trying says by episode why a set cannot be built", async () => {
  const features = { state: { dtype: "float32" as const, parts: [{ topic: "/joints", field: "other" }] } };
  const tried = await admin.call(api.trainingSets.tryOut, { id, versionNumber: 1, mapping: { ...mapping, features } });
  const [episode] = tried.episodes;
  assert.match(episode!.leftOut!, /no message of \/joints has a value for state: the first has no field other/);
  assert.deepEqual(tried.rows, []);
  assert.deepEqual(episode!.warnings, []);
  const unknown = { id, versionNumber: 1, mapping, episodeIds: ["ep_none"] };
  await assert.rejects(admin.call(api.trainingSets.tryOut, unknown), refusedWith("NotFound", /ep_none/));
});

test("trying tells by episode of values that never change, and of shapes that are not those of the first episode", async () => {
  const turned: TopicSpec = { ...joints, messageAt: () => ({ position: [1, 2, 3] }) };
  const bytes = await makeMcap({ startNs: START + 500n * SECOND, durationSeconds: 4, topics: [turned] });
  const upload = await uploadFile(cloud, Buffer.from(bytes), { filename: "turned.mcap", deviceName: "arm" });
  const of = { recordings: [upload.recordingId!], metadata: { task: "pick" } };
  const times = { startTime: START + 500n * SECOND, endTime: START + 503n * SECOND };
  const made = await admin.call(api.episodes.getOrCreate, { projectId, episodes: [{ ...of, ...times }] });
  const episodeIds = [episodes[0]!.id, made.episodes[0]!.id];
  const { id: mixedId } = await admin.call(api.datasets.create, { projectId, name: "mixed", episodeIds });
  const state = { state: mapping.features!.state! };
  const asked = { id: mixedId, versionNumber: 1, mapping: { ...mapping, features: state } };
  const tried = await admin.call(api.trainingSets.tryOut, asked);
  assert.deepEqual(
    tried.episodes.map(({ problem, warnings }) => [problem, warnings]),
    [
      [undefined, []],
      [
        `the feature state has 3 values in the episode ${episodeIds[1]}, and 2 in those before it`,
        [{ check: "frozen", feature: "state", text: "state has the same values in all 61 rows" }],
      ],
    ],
  );
});

test("recordings that are imported in another order, into another project, give the same files", async () => {
  const startNs = START + 900n * SECOND;
  const other: TopicSpec = { ...joints, messageAt: ({ sequence }) => ({ position: [7, sequence] }) };
  const makes = [
    { topics: [joints], seed: 1 },
    { topics: [camera], seed: 2 },
    { topics: [other], seed: 3 },
  ].map((spec) => makeMcap({ startNs, durationSeconds: 4, ...spec }));
  const recorded = (await Promise.all(makes)).map((bytes) => Buffer.from(bytes));
  const manifestOf = async (name: string, order: readonly number[]) => {
    const project = await admin.call(api.projects.create, { name });
    const of = { filename: "part.mcap", deviceName: name, projectId: project.id };
    const recordings: string[] = [];
    for (const place of order) recordings.push((await uploadFile(cloud, recorded[place]!, of)).recordingId!);
    const times = { startTime: startNs, endTime: startNs + 3n * SECOND };
    const asked = [{ ...times, metadata: { task: "pick" }, recordings }];
    const made = await admin.call(api.episodes.getOrCreate, { projectId: project.id, episodes: asked });
    const given = { projectId: project.id, name, episodeIds: [made.episodes[0]!.id] };
    const { id: datasetId } = await admin.call(api.datasets.create, given);
    await admin.call(api.datasetVersions.commit, { id: datasetId });
    const kept = await admin.call(api.datasetMappings.create, { id: datasetId, name, mapping });
    const set = { id: datasetId, versionNumber: 1, mappingId: kept.id };
    const { state, manifestSha256 } = await built((await admin.call(api.trainingSets.create, set)).id);
    assert.equal(state, "ready");
    return manifestSha256;
  };
  const first = await manifestOf("order-012", [0, 1, 2]);
  for (const order of [
    [2, 1, 0],
    [1, 2, 0],
  ])
    assert.equal(await manifestOf(`order-${order.join("")}`, order), first);
});

test("the files of a set come as one archive, whole or from the middle, until the set is gone", async () => {
  const { id: setId } = await built((await build()).id);
  const files = await fetchFiles(setId);
  const { link, size } = await admin.call(api.trainingSets.stream, { id: setId });
  assert.ok(link.includes(`/picks-1-${setId.slice(-6)}.tar?`));
  const whole = Buffer.from(await (await fetch(link)).arrayBuffer());
  assert.equal(whole.length, size);
  for (const [path, bytes] of files) assert.ok(whole.includes(path) && whole.includes(bytes), path);
  const part = await fetch(link, { headers: { range: "bytes=700-1999" } });
  assert.equal(part.status, 206);
  assert.ok(whole.subarray(700, 2000).equals(Buffer.from(await part.arrayBuffer())));
  const { status, headers } = await fetch(link, { method: "HEAD" });
  assert.deepEqual([status, headers.get("content-length"), headers.get("etag")], [200, `${size}`, `"${setId}"`]);
  await admin.call(api.trainingSets.delete, { id: setId });
  assert.equal((await fetch(link)).status, 404);
  await assert.rejects(admin.call(api.trainingSets.stream, { id: setId }), refusedWith("NotFound", /training set/));
});

test("a deleted set is gone with its objects, and a new one has the same files", async () => {
  const former = await built((await build()).id);
  const keys = await prisma.trainingFile.findMany({ where: { setId: former.id }, select: { blobKey: true } });
  await admin.call(api.trainingSets.delete, { id: former.id });
  await assert.rejects(admin.call(api.trainingSets.get, { id: former.id }), refusedWith("NotFound", /training set/));
  for (const { blobKey } of keys)
    await eventually(
      () => deps.blobs.stat(blobKey),
      (stored) => stored === undefined,
    );
  const { manifestSha256 } = await built((await build()).id);
  assert.equal(manifestSha256, former.manifestSha256);
});

test("a set without its objects, as after a restore of the database, is built again", async () => {
  const former = await built((await build()).id);
  const keys = await prisma.trainingFile.findMany({ where: { setId: former.id }, select: { blobKey: true } });
  for (const { blobKey } of keys) await deps.blobs.delete(blobKey);
  const again = await build();
  assert.notEqual(again.id, former.id);
  assert.equal((await built(again.id)).manifestSha256, former.manifestSha256);
  assert.equal((await admin.call(api.trainingSets.get, { id: former.id })).state, "expired");
});

test("data that does not fit the mapping fails with a sentence, and leaves no object", async () => {
  const features = { state: { dtype: "float32", parts: [{ topic: "/none" }] } };
  const { id: mappingId } = await keep(TrainingMapping.parse({ ...mapping, features }), "wrong");
  const { state, failure, id: setId } = await built((await build({ mappingId })).id);
  assert.equal(state, "failed");
  assert.match(failure!, /it has no message of \/none for state/);
  await assert.rejects(admin.call(api.trainingSets.listFiles, { id: setId }), refusedWith("NotFound", /is failed/));
  assert.deepEqual(await prisma.trainingFile.findMany({ where: { setId } }), []);
});

test("a version that is not committed is refused, and one that misses data unless its episodes are left out", async () => {
  await assert.rejects(build({ versionNumber: 2 }), refusedWith("Conflict", /version 2 is not committed/));
  await prisma.recording.update({ where: { id: recordingIds[1]! }, data: { importStatus: "failed" } });
  await assert.rejects(build(), refusedWith("Incomplete", /data of 1 episodes is not here/));
  const set = await built((await build({ missing: "leaveOut" })).id);
  assert.deepEqual([set.state, set.episodes!.length], ["ready", 1]);
  await prisma.recording.update({ where: { id: recordingIds[1]! }, data: { importStatus: "complete" } });
});

test("a set whose data changed since it was asked for is not built as if it were the same", async () => {
  const { id: mappingId } = await keep({ ...mapping, fps: 5 }, "5hz");
  const { id: setId } = await built((await build({ mappingId, missing: "leaveOut" })).id);
  await prisma.trainingSet.update({ where: { id: setId }, data: { state: "building", files: { deleteMany: {} } } });
  await prisma.recording.update({ where: { id: recordingIds[1]! }, data: { importStatus: "failed" } });
  await buildTrainingSet(deps, setId, new AbortController().signal);
  await prisma.recording.update({ where: { id: recordingIds[1]! }, data: { importStatus: "complete" } });
  const { state, failure } = await admin.call(api.trainingSets.get, { id: setId });
  assert.equal(state, "failed");
  assert.match(failure!, /changed since the set was asked for/);
});

test("of a version with more episodes than a set has none is drafted, tried or built, and a trial takes five at equal distances", async () => {
  const times = Array.from({ length: 23 }, (_, index) => START + BigInt(index) * 100_000_000n);
  const items = times.map((startTime) => ({ startTime, endTime: startTime + SECOND, recordings: [recordingIds[0]!] }));
  const { episodes: made } = await admin.call(api.episodes.getOrCreate, { projectId, episodes: items });
  const dataset = { projectId, name: "spread", episodeIds: made.map((one) => one.id) };
  const of = { id: (await admin.call(api.datasets.create, dataset)).id, versionNumber: 1 };
  const { episodes: tried } = await admin.call(api.trainingSets.tryOut, { ...of, mapping });
  const at = [0, 5, 10, 14, 19];
  assert.deepEqual(
    tried.map(({ episodeId }) => episodeId),
    at.map((place) => made[place]!.id),
  );
  await prisma.datasetVersion.updateMany({ where: { datasetId: of.id }, data: { episodeCount: 10_001 } });
  const refused = refusedWith("InvalidRequest", /has 10001 episodes, and a training set has 10000 at most/);
  await assert.rejects(admin.call(api.trainingSets.draft, of), refused);
  await assert.rejects(admin.call(api.trainingSets.tryOut, { ...of, mapping }), refused);
  await assert.rejects(admin.call(api.trainingSets.create, { ...of, mappingId: "map_1" }), refused);
});

test("the episodes of a version are read in pages, each once and by their start", async () => {
  const times = Array.from({ length: 401 }, (_, index) => START + BigInt(index % 200) * 1_000_000n);
  const many = times.map((startTime, index) => ({
    startTime,
    endTime: startTime + BigInt(1 + index),
    recordings: [recordingIds[0]!],
  }));
  const { episodes: made } = await admin.call(api.episodes.getOrCreate, { projectId, episodes: many });
  const dataset = { projectId, name: "many", episodeIds: made.map((one) => one.id) };
  const { id: datasetId } = await admin.call(api.datasets.create, dataset);
  const { orgId } = await prisma.dataset.findUniqueOrThrow({ where: { id: datasetId } });
  const read = await Array.fromAsync(readVersionEpisodes(deps, { orgId, datasetId, versionNumber: 1 }));
  assert.deepEqual(read.map((one) => one.id).sort(), made.map((one) => one.id).sort());
  for (const [at, { startNs }] of read.entries()) assert.ok(at === 0 || startNs >= read[at - 1]!.startNs);
});

test("a set expires: it has no files any more, and is built again when it is asked for", async () => {
  const set = await built((await build({ keepDays: 1 })).id);
  clock.aheadNs += 40n * 86_400n * SECOND;
  assert.equal((await admin.call(api.trainingSets.get, { id: set.id })).state, "expired");
  await assert.rejects(admin.call(api.trainingSets.listFiles, { id: set.id }), refusedWith("NotFound", /is expired/));
  assert.notEqual((await build()).id, set.id);
});
