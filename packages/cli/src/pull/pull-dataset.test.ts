import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { ApiCallError } from "@downlink/client";
import { serve } from "@downlink/client/testing";
import { api, exportLinks } from "@downlink/protocol";
import type { Service } from "../login/open-service.ts";
import type { Manifest } from "./manifest.ts";
import { pullDataset } from "./pull-dataset.ts";

const START_NS = 1_760_000_000_000_000_000n;
const bytesOf = (id: string) => Buffer.from(`the data of ${id} `.repeat(1000));
const sha256Of = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const nameOf = (id: string) => `2025-10-09T08-53-20Z_${id}.mcap`;

const episodeOf = (id: string) => ({
  episode: { id, startTime: START_NS, endTime: START_NS + 1n, metadata: { task: id }, recordings: [] },
});

type Refusal = readonly [status: number, code: string];

const dataset = { id: "ds_1", name: "Stops", projectId: "prj_1" };
const version = { versionNumber: 3, committedAt: START_NS };

interface Given {
  readonly ids: readonly string[];
  /** How the service refuses to make the file of an episode, and to stream it. */
  readonly refused?: Readonly<Record<string, Refusal>>;
  readonly refusedViews?: Refusal;
}

const refuse = ([status, code]: Refusal) => new ApiCallError({ status, code, message: `refused with ${code}` });

/** Starts a service with a dataset of these episodes, and a folder to pull it into. */
async function startDataset(given: Given) {
  const asked: string[] = [];
  let { ids, refused = {}, refusedViews } = given;
  const counts = { now: 0, most: 0 };
  const server = await serve(
    (request, response) => void response.end(bytesOf(decodeURIComponent(request.url!.slice(1)))),
  );
  const make = async ({ episodeId: id }: { episodeId: string }) => {
    asked.push(id);
    counts.now += 1;
    counts.most = Math.max(counts.most, counts.now);
    await new Promise((resolve) => setImmediate(resolve));
    counts.now -= 1;
    if (refused[id]) throw refuse(refused[id]);
    return { id, link: `${server.url}/${encodeURIComponent(id)}` };
  };
  const answers = new Map<object, (input: never) => unknown>([
    [api.datasets.get, () => dataset],
    [api.datasetVersions.list, () => ({ versions: [{ versionNumber: 4 }, version] })],
    [api.datasetVersions.listEpisodes, () => ({ output: { episodes: ids.map(episodeOf) }, headers: {} })],
    [exportLinks.create, make],
    [api.viewLinks.delete, () => ({})],
    [
      api.viewLinks.create,
      async (input: { episodeId: string }) => {
        if (refusedViews) throw refuse(refusedViews);
        const [made, bytes] = [await make(input), bytesOf(input.episodeId)];
        return { ...made, state: "ready", size: bytes.length, contentSha256: sha256Of(bytes) };
      },
    ],
  ]);
  const call = async (operation: object, input: never) => answers.get(operation)!(input);
  const { signal } = new AbortController();
  const service = { client: { call, callWithHeaders: call }, dispatcher: undefined, signal } as unknown as Service;
  const folder = mkdtempSync(join(tmpdir(), "downlink-dl-"));
  const pull = async (check?: true) => {
    const [notes, output] = [new PassThrough() as unknown as NodeJS.WriteStream, new PassThrough()];
    const flags = { dataset: "ds_1", version: undefined, folder, notes, output, ...(check && { check }) };
    const failure = await pullDataset(service, flags).catch(String);
    return { failure, noted: String(notes.read()), printed: String(output.read()) };
  };
  const change = (next: Given) => ({ ids, refused = {}, refusedViews } = next);
  const manifest = () => JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest;
  return Object.assign(server, { asked, counts, folder, pull, change, manifest });
}

const ids = ["ep_1", "ep_2", "ep_3", "ep_4", "ep_5", "ep_6", "ep_7", "ep_8", "ep_9"];

test("each episode is a file, the manifest has its size and hash, four come at a time, and a check finds all whole", async () => {
  await using server = await startDataset({ ids });
  const { failure, noted } = await server.pull();
  assert.equal(failure, undefined);
  assert.match(noted, /: 9 episodes, 153 kB\n$/);
  assert.deepEqual(readdirSync(server.folder).sort(), [...ids.map(nameOf), "manifest.json"]);
  for (const { id, file, size, sha256, metadata } of server.manifest().episodes) {
    const bytes = readFileSync(join(server.folder, file));
    assert.deepEqual([file, size, sha256, metadata], [nameOf(id), bytes.length, sha256Of(bytes), { task: id }]);
    assert.ok(bytes.equals(bytesOf(id)));
  }
  assert.equal(server.counts.most, 4);
  assert.match((await server.pull(true)).printed, /: 9 episodes, all whole\n$/);
});

test("a call that failed in the middle leaves a folder that the next one completes, and no whole file is fetched twice", async () => {
  await using server = await startDataset({ ids, refused: { ep_3: [500, "Internal"] } });
  assert.match(String((await server.pull()).failure), /ApiCallError: refused with Internal/);
  const whole = server.manifest().episodes.filter(({ sha256 }) => sha256 !== undefined);
  assert.ok(whole.length >= 2 && whole.length < 8, String(whole.length));
  writeFileSync(join(server.folder, nameOf("ep_9")), "of a call that was killed before it noted the file");
  writeFileSync(join(server.folder, "manifest.json.0a1b2c3d.part"), "{");
  writeFileSync(join(server.folder, `${nameOf("ep_1")}.0a1b2c3d.part`), "x");
  server.change({ ids });
  server.asked.length = 0;
  const { failure, noted } = await server.pull();
  assert.equal(failure, undefined);
  assert.match(noted, new RegExp(`; ${whole.length} were here already\\n$`));
  const rest = ids.filter((id) => !whole.some((entry) => entry.id === id));
  assert.deepEqual(server.asked, rest);
  assert.deepEqual(readdirSync(server.folder).sort(), [...ids.map(nameOf), "manifest.json"]);
  assert.equal((await server.pull(true)).failure, undefined);
});

test("an episode whose data is missing is named in the manifest and the output, and all others come", async () => {
  await using server = await startDataset({
    ids,
    refused: { ep_2: [409, "Incomplete"], ep_5: [404, "NoStreamableRecordings"] },
  });
  const { failure, noted } = await server.pull();
  assert.match(String(failure), /^RefusedError: 2 of 9 episodes are missing/);
  assert.match(noted, /_ep_2\.mcap {2}missing: refused with Incomplete\n/);
  const missing = server.manifest().episodes.filter((entry) => entry.missing !== undefined);
  assert.deepEqual(
    missing.map(({ id, size }) => [id, size]),
    [
      ["ep_2", undefined],
      ["ep_5", undefined],
    ],
  );
  assert.equal(readdirSync(server.folder).length, 8);
  const { printed, failure: found } = await server.pull(true);
  assert.match(printed, /^missing {2}\S+_ep_2\.mcap: refused with Incomplete\nmissing {2}\S+_ep_5\.mcap: refused/);
  assert.match(String(found), /2 differences/);
  server.change({ ids });
  assert.equal((await server.pull()).failure, undefined);
  assert.equal((await server.pull(true)).failure, undefined);
});

test("where the service makes no file, because the key may not ask for it, the data is streamed", async () => {
  await using server = await startDataset({ ids, refusedViews: [403, "MissingCapability"] });
  assert.equal((await server.pull()).failure, undefined);
  for (const id of ids) assert.ok(readFileSync(join(server.folder, nameOf(id))).equals(bytesOf(id)));
  assert.equal(server.manifest().episodes[0]!.sha256, sha256Of(bytesOf("ep_1")));
});

test("a check names what is altered, missing and extra, and the next pull mends it, but for the files of others", async () => {
  await using server = await startDataset({ ids });
  await server.pull();
  appendFileSync(join(server.folder, nameOf("ep_1")), "x");
  rmSync(join(server.folder, nameOf("ep_2")));
  writeFileSync(join(server.folder, "notes.txt"), "");
  server.change({ ids: ids.slice(0, 8) });
  const { printed, failure } = await server.pull(true);
  assert.deepEqual(printed.trim().split("\n"), [
    `altered  ${nameOf("ep_1")}`,
    `missing  ${nameOf("ep_2")}`,
    "extra    manifest.json: ep_9 is not in the version",
    `extra    ${nameOf("ep_9")}`,
    "extra    notes.txt",
  ]);
  assert.match(String(failure), /^RefusedError: .*5 differences$/);
  server.change({ ids });
  assert.equal((await server.pull()).failure, undefined);
  assert.match((await server.pull(true)).printed, /^extra {4}notes\.txt\n$/);
});

test("a folder of another version, or with another manifest, is refused and stays as it is", async () => {
  await using server = await startDataset({ ids });
  for (const [text, why] of [
    ['{"format":"other"}', /was not written by dl datasets pull/],
    ["[", /was not written by dl datasets pull/],
    [
      '{"format":"downlink-dataset-1","dataset":{"id":"ds_1","name":"Stops"},"version":{"versionNumber":2},"episodes":[]}',
      /holds version 2 of Stops \(ds_1\), and not version 3/,
    ],
  ] as const) {
    writeFileSync(join(server.folder, "manifest.json"), text);
    assert.match(String((await server.pull()).failure), why);
    assert.equal(readFileSync(join(server.folder, "manifest.json"), "utf8"), text);
    assert.equal(readdirSync(server.folder).length, 1);
  }
});

test("an id that is a path or an escape sequence leads to a file in the folder", async () => {
  await using server = await startDataset({ ids: ["../../x", "a\u001b[2Jb"] });
  const { noted } = await server.pull();
  assert.equal(noted.includes("\u001b"), false);
  assert.deepEqual(readdirSync(server.folder).sort(), [
    "2025-10-09T08-53-20Z_..-..-x.mcap",
    "2025-10-09T08-53-20Z_a__2Jb.mcap",
    "manifest.json",
  ]);
});
