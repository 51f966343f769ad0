import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Client } from "@downlink/client";
import { api } from "@downlink/protocol";
import { makeMcap, type TopicSpec } from "@downlink/recordings/testing";
import { startScenario } from "./processes/scenario.ts";

const PROGRAM = fileURLToPath(new URL("../../cli/src/main.ts", import.meta.url));
const START_NS = 1_760_000_000_000_000_000n;
const SECOND_NS = 1_000_000_000n;

const joints: TopicSpec = {
  topic: "/joints",
  kind: "imu",
  rateHz: 100,
  messageAt: ({ sequence }) => ({ position: [sequence, -sequence] }),
};

const MAPPING = `# rows of the arm
fps: 20
task: { metadata: task }
features:
  observation.state: { dtype: float32, parts: [{ topic: /joints, field: position }] }
`;

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

test("dl makes a training set and fetches it; called again it fetches nothing, and only the file that was broken", async (t) => {
  const { dl, folder } = await startPicks(t);
  await writeFile(join(folder, "arm.yaml"), MAPPING);
  const made = await dl("training-set create picks --mapping arm.yaml --keep-days 2 -o set");
  assert.equal(made.code, 0, made.err);
  const [, id] = /^(ts_\w+) {2}ready {2}6 files, /.exec(made.out) ?? [];
  assert.ok(id, made.out);
  assert.match(made.err, /version 1 of picks by the mapping arm, revision 1\n[\s\S]*set: 6 files, [\d.]+ kB\n$/);
  const listed = JSON.parse((await dl("training-set ls --dataset picks --state ready --output json")).out);
  assert.deepEqual([listed.trainingSets.length, listed.trainingSets[0].id], [1, id]);
  assert.match((await dl("training-set ls")).out, new RegExp(`^ID .*\\n${id} .* ready +3/3 `));

  const { err } = await dl("training-set check set");
  assert.match(err, /^set: 3 episodes, 123 rows, no error\n$/);
  const data = join(folder, "set/data/chunk-000/file-000.parquet");
  const whole = await readFile(data);
  const { ino } = await stat(data);
  assert.match((await dl(`training-set pull ${id} -o set`)).err, /set: 6 files, [\d.]+ kB; 6 were here already\n$/);
  assert.equal((await stat(data)).ino, ino);
  await writeFile(data, whole.with(100, whole[100]! ^ 1));
  await rm(join(folder, "set/meta/info.json"));
  const broken = await dl("training-set check set --output json");
  assert.deepEqual([broken.code, JSON.parse(broken.out)[0].text], [1, "meta/info.json is missing"]);
  await writeFile(join(folder, "set/notes.txt"), "");
  await writeFile(`${data}.0123456789abcdef.part`, "of a call that was killed");
  const mended = await dl(`training-set pull ${id} -o set`);
  assert.match(mended.err, /^dl: notes\.txt is not of the set\nset: 6 files, [\d.]+ kB; 4 were here already\n$/);
  assert.ok(whole.equals(await readFile(data)));
  assert.deepEqual((await readdir(join(folder, "set"))).sort(), ["data", "downlink.json", "meta", "notes.txt"]);
});

test("dl makes tables of all messages of some topics, which check does not know", async (t) => {
  const { dl, folder } = await startPicks(t);
  await writeFile(join(folder, "raw.yaml"), "topics: [/joints]\n");
  const made = await dl("training-set create picks --mapping raw.yaml -o set");
  assert.match(made.out, /^ts_\w+ {2}ready {2}2 files, /, made.err);
  const [topic] = await readdir(join(folder, "set/topics"));
  assert.match(topic!, /^joints-[0-9a-f]{8}$/);
  assert.deepEqual(await readdir(join(folder, "set/topics", topic!)), ["0-000.parquet"]);
  const checked = await dl("training-set check set");
  assert.equal(checked.code, 2);
  assert.match(checked.err, /set is a set of the format parquet, and check knows sets of lerobot-v3 only\n$/);
  const refused = await dl("training-set create picks --mapping raw.yaml --format lerobot-v3");
  assert.equal(refused.code, 2);
  assert.match(refused.err, /the mapping has no features, of which lerobot-v3 is made/);
});

test("dl says what is wrong with a mapping by its line, and why a set was not built", async (t) => {
  const { dl, folder } = await startPicks(t);
  await writeFile(join(folder, "wrong.yaml"), MAPPING.replace("float32", "int64").replace("field:", "feld:"));
  const wrong = await dl("training-set create picks --mapping wrong.yaml");
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /^dl: wrong\.yaml:5: features\.observation\.state\.parts\.0 must not have "feld"\n$/);
  await writeFile(join(folder, "none.yaml"), MAPPING.replace("/joints", "/none"));
  const none = await dl("training-set create picks 1 --mapping none.yaml");
  assert.equal(none.code, 1);
  assert.match(none.err, /\ndl: ts_\w+ could not be built: .* has no message of \/none for observation\.state/);
  const failed = /ts_\w+/.exec(none.err)![0];
  assert.match((await dl(`training-set pull ${failed}`)).err, /could not be built: /);
  assert.match((await dl("training-set create picks 2 --mapping none.yaml")).err, /version 2 is editable/);
});

test("Ctrl-C while a set is built says how to fetch it", async (t) => {
  const { admin, env, folder, dl } = await startPicks(t);
  await writeFile(join(folder, "arm.json"), JSON.stringify({ ...JSON_MAPPING, fps: 1000 }));
  const args = [PROGRAM, "training-set", "create", "picks", "--mapping", "arm.json"];
  const child = spawn(process.execPath, args, { env, cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(child, "exit");
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    lines.push(line);
    if (lines.length === 1) child.kill("SIGINT");
  }
  assert.deepEqual(await ended, [130, null]);
  const { trainingSets } = await admin.call(api.trainingSets.list, {});
  const id = trainingSets[0]!.id;
  assert.equal(lines.at(-1), `dl: the service goes on building ${id}; dl training-set pull ${id} -o DIR fetches it`);
  assert.equal((await dl(`training-set pull ${id}`)).code, 0);
  assert.ok((await readdir(join(folder, id))).includes("downlink.json"));
});

const JSON_MAPPING = {
  fps: 20,
  features: { state: { dtype: "float32", parts: [{ topic: "/joints", field: "position" }] } },
};

/** Commits a dataset of three episodes, and logs in. */
async function startPicks(t: Parameters<typeof startScenario>[0]) {
  const scenario = await startScenario(t);
  const bytes = await makeMcap({ startNs: START_NS, durationSeconds: 10, topics: [joints] });
  await writeFile(join(scenario.storageRoot, "a.mcap"), bytes);
  scenario.startAgent();
  const recordingId = await scenario.requestOnly();
  await scenario.until("complete");
  const { adminKey, admin } = scenario.cloud();
  await commitPicks(admin, recordingId);
  const folder = await mkdtemp(join(tmpdir(), "downlink-dl-"));
  const env = {
    ...process.env,
    XDG_CONFIG_HOME: folder,
    DOWNLINK_API_URL: scenario.proxy.url,
    DOWNLINK_API_KEY: adminKey,
  };
  const dl = (args: string) => run(args.split(" "), { folder, env });
  return { dl, folder, env, admin };
}

async function commitPicks(admin: Client, recordingId: string): Promise<void> {
  const { projectId } = await admin.call(api.recordings.get, { keyOrId: recordingId });
  const episodes = [0n, 3n, 6n].map((second) => ({
    startTime: START_NS + second * SECOND_NS,
    endTime: START_NS + (second + 2n) * SECOND_NS,
    metadata: { task: "pick" },
    recordings: [recordingId],
  }));
  const made = await admin.call(api.episodes.getOrCreate, { projectId, episodes });
  const episodeIds = made.episodes.map(({ id }) => id);
  const { id } = await admin.call(api.datasets.create, { projectId, name: "picks", episodeIds });
  await admin.call(api.datasetVersions.commit, { id });
}

function run(args: readonly string[], { folder, env }: { folder: string; env: NodeJS.ProcessEnv }): Promise<Ran> {
  const { promise, resolve } = Promise.withResolvers<Ran>();
  execFile(process.execPath, [PROGRAM, ...args], { env, cwd: folder }, (error, out, err) =>
    resolve({ code: error ? Number(error.code) : 0, out, err }),
  );
  return promise;
}
