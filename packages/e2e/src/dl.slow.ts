import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Client } from "@downlink/client";
import { api, formatTimestamp } from "@downlink/protocol";
import { eventually, makeMcap, readIndexedMessages, readMessages } from "@downlink/recordings/testing";
import { request } from "undici";
import { startScenario } from "./processes/scenario.ts";

const PROGRAM = fileURLToPath(new URL("../../cli/src/main.ts", import.meta.url));
const START_NS = 1_760_000_000_000_000_000n;

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

test("dl logs in, lists, asks for a recording and waits for it, and exports an exact part of it", async (t) => {
  const scenario = await startScenario(t);
  const whole = await makeMcap({ startNs: START_NS, durationSeconds: 4 });
  await writeFile(join(scenario.storageRoot, "a b.mcap"), whole);
  scenario.startAgent();
  const [recording] = await eventually(scenario.recordings, ({ length }) => length === 1);
  const { cloud } = scenario;
  const { url, adminKey } = cloud();
  const folder = await mkdtemp(join(tmpdir(), "downlink-dl-"));
  const dl = (args: readonly string[], input = "") => run(args, { folder, input });

  assert.equal((await dl(["login", url], `${adminKey}\n`)).code, 0);
  assert.match((await dl(["ls"])).out, new RegExp(`^ID .*\\n${recording!.id} .* none +\\S+ +.*a b.mcap\\n$`));
  const answered = await cloud().admin.call(api.recordings.list, {});
  assert.deepEqual(JSON.parse((await dl(["ls", "--json"])).out), api.recordings.list.response.encode(answered));
  assert.deepEqual(JSON.parse((await dl(["ls", "--output", "json", "--status", "none"])).out).length, 1);
  const imported = await dl(["import", recording!.id, "--watch"]);
  assert.deepEqual(
    [imported.code, imported.out.trim().split("\n").at(-1)],
    [0, `${recording!.id}  complete  a b.mcap`],
  );

  const all = readMessages(whole);
  const { topic } = all[0]!;
  const [start, end] = [START_NS + 1_000_000_000n, START_NS + 2_000_000_000n];
  const output = join(folder, "part.mcap");
  const window = [`--topic=${topic}`, `--start=${formatTimestamp(start)}`, `--end=${formatTimestamp(end)}`];
  assert.equal((await dl(["export", recording!.id, "-o", output, ...window])).code, 0);
  const wanted = all.filter((one) => one.topic === topic && one.logTimeNs >= start && one.logTimeNs <= end);
  assert.ok(wanted.length > 0);
  assert.deepEqual(contentOf(await readIndexedMessages(await readFile(output))), contentOf(wanted));

  assert.equal((await dl(["get", recording!.id])).code, 0);
  assert.ok(Buffer.from(whole).equals(await readFile(join(folder, "a_b.mcap"))));
  await tryWrongWords(dl, { id: recording!.id, topic, output });
  await cloud().admin.call(api.recordings.delete, { keyOrId: recording!.id });
  const gone = await dl(["export", recording!.id, "-o", join(folder, "gone.mcap")]);
  assert.deepEqual([gone.code, /^dl: .*\n$/.test(gone.err)], [1, true], gone.err);
  assert.deepEqual((await readdir(folder)).sort(), ["a_b.mcap", "downlink", "part.mcap"]);
});

test("dl lists what there is as JSON and CSV, draws it, watches it, completes its names, and logs out", async (t) => {
  const scenario = await startScenario(t);
  await writeFile(join(scenario.storageRoot, "a.mcap"), await makeMcap({ startNs: START_NS, durationSeconds: 4 }));
  scenario.startAgent();
  const [recording] = await eventually(scenario.recordings, ({ length }) => length === 1);
  const { url, adminKey, admin } = scenario.cloud();
  const folder = await mkdtemp(join(tmpdir(), "downlink-dl-"));
  const dl = (args: string, input = "") => run(args.split(" "), { folder, input });
  const { device, projectId } = recording!;
  const { next: since } = await admin.call(api.changes.list, {});
  const event = await admin.call(api.events.create, { deviceId: device!.id, start: START_NS, end: START_NS + 1n });
  assert.equal((await dl(`login ${url}`, `${adminKey}\n`)).code, 0);

  assert.deepEqual(JSON.parse((await dl("events --output json")).out), api.events.list.response.encode([event]));
  const csv = (await dl("events --output csv")).out.split("\n");
  assert.equal(csv[1]!.split(",").slice(4, 6).join(), "2025-10-09T08:53:20Z,2025-10-09T08:53:20.000000001Z");
  assert.match((await dl(`devices --name ${device!.name.toUpperCase()}`)).out, new RegExp(`${device!.name}\\n$`));
  assert.equal((await dl(`topics ${recording!.id} --output csv`)).code, 0);
  await admin.call(api.datasets.create, { projectId, name: "stops", episodeIds: [] });
  const [dataset] = JSON.parse((await dl("datasets --output json")).out);
  assert.match((await dl(`datasets versions ${dataset.id}`)).out, /^VERSION .*\n1 +editable /);
  assert.match((await dl("coverage")).out, new RegExp(`^${device!.name} .*D.*\\n`));
  assert.deepEqual((await dl(`complete -- ls --device ${device!.name.slice(0, -1)}`)).out, `${device!.name}\t\n`);
  await watchFirst(`watch --kind event --since ${since}`, { folder, id: event.id });

  assert.match((await dl("logout")).out, /still works/);
  assert.equal((await dl("ls")).code, 2);
});

test("dl login shows a code, a member approves it, and the session has their rights until dl logout ends it", async (t) => {
  const scenario = await startScenario(t);
  const { url, admin } = scenario.cloud();
  const folder = await mkdtemp(join(tmpdir(), "downlink-dl-"));
  const { link } = await admin.call(api.invitations.create, { email: "ann@example.org", role: "user" });
  const member = openBrowser(scenario.proxy.url);
  await member("POST", "/v1/session/invitation", { token: link!.split("#")[1], password: "correct horse battery" });

  const env = { ...process.env, XDG_CONFIG_HOME: folder, DOWNLINK_API_URL: "", DOWNLINK_API_KEY: "" };
  const child = spawn(process.execPath, [PROGRAM, "login", url, "--code"], { env, stdio: ["ignore", "pipe", "pipe"] });
  const [ended, out] = [once(child, "exit"), text(child.stdout)];
  for await (const line of createInterface({ input: child.stderr })) {
    const [, userCode] = /^ +(\w{4}-\w{4})$/.exec(line) ?? [];
    if (userCode) await member("POST", "/v1/session/device", { userCode, approve: true });
  }
  assert.deepEqual(await ended, [0, null]);
  assert.match(await out, /^Signed in to \S+ as ann@example\.org of /);
  const dl = (args: string) => run(args.split(" "), { folder, input: "" });
  assert.equal((await dl("ls")).code, 0);
  const sessions = async () => (await member("GET", "/v1/me/sessions")) as readonly { isCurrent: boolean }[];
  assert.equal((await sessions()).length, 2);
  assert.match((await dl("logout")).out, /It has ended\.\n$/);
  assert.deepEqual(
    (await sessions()).map(({ isCurrent }) => isCurrent),
    [true],
  );
  assert.equal((await dl("ls")).code, 2);
});

test("dl cat prints what the recording has, and dl datasets pull fetches a version that a check holds to its hashes", async (t) => {
  const scenario = await startScenario(t);
  const whole = await makeMcap({ startNs: START_NS, durationSeconds: 4 });
  await writeFile(join(scenario.storageRoot, "a.mcap"), whole);
  scenario.startAgent();
  const id = await scenario.requestOnly();
  await scenario.until("complete");
  const { url, adminKey, admin } = scenario.cloud();
  const folder = await mkdtemp(join(tmpdir(), "downlink-dl-"));
  const dl = (args: string, input = "") => run(args.split(" "), { folder, input });
  assert.equal((await dl(`login ${url}`, adminKey)).code, 0);
  const all = readMessages(whole);
  const { topic } = all[0]!;
  const printed = await dl(`cat ${id} ${topic} --raw hex`);
  const lines = printed.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const wanted = contentOf(all.filter((one) => one.topic === topic));
  assert.deepEqual(
    lines.map(({ time, raw }) => ({ topic, time, data: raw })),
    wanted.map(({ logTimeNs, data }) => ({ topic, time: formatTimestamp(logTimeNs), data })),
  );

  const spans = await makeStops(admin, id);
  assert.equal((await dl("datasets pull stops -o pulled")).code, 0);
  const { episodes } = JSON.parse(await readFile(join(folder, "pulled/manifest.json"), "utf8"));
  for (const [at, { startTime, endTime }] of spans.entries()) {
    const inside = all.filter(({ logTimeNs }) => logTimeNs >= startTime && logTimeNs <= endTime);
    const pulled = await readIndexedMessages(await readFile(join(folder, "pulled", episodes[at].file)));
    assert.deepEqual(contentOf(pulled), contentOf(inside));
  }
  assert.equal((await dl("datasets pull stops --check -o pulled")).code, 0);
  await writeFile(join(folder, "pulled", episodes[1].file), "altered");
  const checked = await dl("datasets pull stops --check -o pulled");
  assert.deepEqual([checked.code, checked.out], [1, `altered  ${episodes[1].file}\n`]);
  assert.match((await dl("datasets pull stops -o pulled")).err, /; 2 were here already\n$/);
  assert.equal((await dl("datasets pull stops --check -o pulled")).code, 0);
});

/** Commits a dataset of three episodes of a second, and returns their spans. */
async function makeStops(admin: Client, recordingId: string) {
  const { projectId } = await admin.call(api.recordings.get, { keyOrId: recordingId });
  const spans = [0n, 1n, 2n].map((second) => ({
    startTime: START_NS + second * 1_000_000_000n,
    endTime: START_NS + (second + 1n) * 1_000_000_000n,
  }));
  const episodes = spans.map((span) => ({ ...span, recordings: [recordingId] }));
  const made = await admin.call(api.episodes.getOrCreate, { projectId, episodes });
  const episodeIds = made.episodes.map(({ id }) => id);
  const { id } = await admin.call(api.datasets.create, { projectId, name: "stops", episodeIds });
  await admin.call(api.datasetVersions.commit, { id });
  return spans;
}

/** Calls as a page of the control plane does: with its Origin, and the cookie that it was given. */
function openBrowser(origin: string) {
  let cookie = "";
  return async (method: "GET" | "POST", path: string, body?: object): Promise<unknown> => {
    const headers = { origin, cookie, ...(body && { "content-type": "application/json" }) };
    const answer = await request(origin + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    assert.equal(answer.statusCode, 200, path);
    cookie = answer.headers["set-cookie"]?.toString().split(";")[0] ?? cookie;
    return await answer.body.json();
  };
}

/** Watches until a change of this thing comes, and then presses Ctrl-C. */
async function watchFirst(args: string, { folder, id }: { folder: string; id: string }): Promise<void> {
  const env = { ...process.env, XDG_CONFIG_HOME: folder, DOWNLINK_API_URL: "", DOWNLINK_API_KEY: "" };
  const child = spawn(process.execPath, [PROGRAM, ...args.split(" ")], { env, stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(child, "exit");
  for await (const line of createInterface({ input: child.stdout }))
    if ((JSON.parse(line) as { id: string }).id === id) child.kill("SIGINT");
  assert.deepEqual(await ended, [130, null]);
}

interface Tried {
  readonly id: string;
  readonly topic: string;
  readonly output: string;
}

async function tryWrongWords(dl: (args: readonly string[]) => Promise<Ran>, { id, topic, output }: Tried) {
  const unknown = await dl(["frob"]);
  assert.deepEqual([unknown.code, unknown.err.startsWith("dl: unknown command")], [2, true], unknown.err);
  const astray = await dl(["export", id, "-o", `${output}.none`, "--topic=/frob"]);
  assert.deepEqual([astray.code, /^dl: the recording has no topic \/frob; it has .*\n$/.test(astray.err)], [1, true]);
  assert.ok(astray.err.includes(topic));
  const late = await dl([
    "export",
    id,
    "-o",
    `${output}.none`,
    "--start=2001-01-01T00:00:00Z",
    "--end=2001-01-02T00:00:00Z",
  ]);
  assert.deepEqual(
    [late.code, /^dl: the recording has no data at that time: it is of 2025-/.test(late.err)],
    [1, true],
  );
  const partly = await dl(["export", id, "-o", output, "--force", "--topic=/frob", `--topic=${topic}`]);
  assert.deepEqual([partly.code, partly.err.startsWith("dl: the recording has no topic /frob; it has ")], [0, true]);
}

function run(args: readonly string[], { folder, input }: { folder: string; input: string }): Promise<Ran> {
  const env = { ...process.env, XDG_CONFIG_HOME: folder, DOWNLINK_API_URL: "", DOWNLINK_API_KEY: "" };
  const { promise, resolve } = Promise.withResolvers<Ran>();
  const options = { env, encoding: "latin1", cwd: folder } as const;
  const child = execFile(process.execPath, [PROGRAM, ...args], options, (error, out, err) =>
    resolve({ code: error ? Number(error.code) : 0, out, err }),
  );
  child.stdin!.end(input);
  return promise;
}

function contentOf(messages: readonly { topic: string; logTimeNs: bigint; data: Uint8Array }[]) {
  return messages.map(({ topic, logTimeNs, data }) => ({ topic, logTimeNs, data: Buffer.from(data).toString("hex") }));
}
