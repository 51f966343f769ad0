import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { answerJson, serve } from "@downlink/client/testing";
import { api } from "@downlink/protocol";
import type { Service } from "../login/open-service.ts";
import { pullSet } from "./pull-set.ts";

const bytesOf = (path: string) => Buffer.from(`the bytes of ${path} `.repeat(1000));
const sha256Of = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

const PATHS = ["data/chunk-000/file-000.parquet", "data/chunk-000/file-001.parquet", "downlink.json", "meta/info.json"];

/** Starts a service with a set of these files, and a folder to pull it into. Links of a list up to `expired` have expired. */
async function startSet(paths: readonly string[] = PATHS, set: object = { state: "ready" }) {
  const asked: string[] = [];
  const lists = { made: 0, expired: 0, isCut: false };
  const server = await serve((request, response) => {
    const [, list, path] = /^\/(\d+)\/(.*)$/.exec(request.url!)!;
    if (Number(list) <= lists.expired) return answerJson(response, 403, { error: "expired", code: "LinkExpired" });
    const bytes = bytesOf(path!);
    const [, from = "0"] = /bytes=(\d+)-/.exec(request.headers.range ?? "") ?? [];
    asked.push(`${path} ${from}`);
    const range = { "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` };
    response.writeHead(from === "0" ? 200 : 206, { ...(from !== "0" && range), etag: `"${sha256Of(bytes)}"` });
    response.end(bytes.subarray(Number(from)));
  });
  const listFiles = () => {
    lists.made += 1;
    const files = paths.map((path) => {
      const bytes = bytesOf(path);
      return { path, size: bytes.length, sha256: sha256Of(bytes), link: `${server.url}/${lists.made}/${path}` };
    });
    return { output: { files }, headers: {} };
  };
  const answers = new Map<object, () => unknown>([
    [api.trainingSets.get, () => ({ id: "ts_1", expiresAt: 0n, ...set })],
    [api.trainingSets.listFiles, listFiles],
  ]);
  const call = async (operation: object) => answers.get(operation)!();
  const { signal } = new AbortController();
  const service = { client: { call, callWithHeaders: call }, dispatcher: undefined, signal } as unknown as Service;
  const folder = mkdtempSync(join(tmpdir(), "downlink-dl-"));
  const pull = async () => {
    asked.length = 0;
    const notes = new PassThrough() as unknown as NodeJS.WriteStream;
    const failure = await pullSet(service, { set: "ts_1", folder, notes }).catch(String);
    return { failure, noted: String(notes.read()) };
  };
  const at = (path: string) => join(folder, path);
  return Object.assign(server, { asked, lists, folder, pull, at });
}

test("all files come, and only those that differ come again; files of others are named and stay", async () => {
  await using server = await startSet();
  assert.match((await server.pull()).noted, /: 4 files, 1\d\d kB\n$/);
  for (const path of PATHS) assert.ok(readFileSync(server.at(path)).equals(bytesOf(path)));
  assert.match((await server.pull()).noted, /; 4 were here already\n$/);
  assert.deepEqual(server.asked, []);
  writeFileSync(server.at("meta/info.json"), bytesOf("meta/info.jsom"));
  writeFileSync(server.at("data/notes.txt"), "");
  const { noted } = await server.pull();
  assert.match(noted, /^dl: data\/notes\.txt is not of the set\n.*; 3 were here already\n$/);
  assert.deepEqual(server.asked, ["meta/info.json 0"]);
  assert.ok(existsSync(server.at("data/notes.txt")));
});

test("a call goes on where one that was killed ended, and removes the parts that others left of the same files", async () => {
  await using server = await startSet();
  const [path] = PATHS as [string];
  mkdirSync(dirname(server.at(path)), { recursive: true });
  const part = `${path}.${sha256Of(bytesOf(path)).slice(0, 16)}.part`;
  writeFileSync(server.at(part), bytesOf(path).subarray(0, 7000));
  writeFileSync(server.at(`${path}.0123456789abcdef.part`), "of another version of the file");
  writeFileSync(server.at("mine.0123456789abcdef.part"), "of something else");
  assert.equal((await server.pull()).failure, undefined);
  assert.ok(server.asked.includes(`${path} 7000`), server.asked.join());
  assert.ok(readFileSync(server.at(path)).equals(bytesOf(path)));
  assert.deepEqual(readdirSync(server.at("data/chunk-000")), ["file-000.parquet", "file-001.parquet"]);
  assert.ok(existsSync(server.at("mine.0123456789abcdef.part")));
});

test("links that have expired are asked for again, by one list for all", async () => {
  await using server = await startSet();
  server.lists.expired = 1;
  assert.equal((await server.pull()).failure, undefined);
  assert.equal(server.lists.made, 2);
  assert.match((await server.pull()).noted, /; 4 were here already\n$/);
});

test("a set that failed or has expired is refused with the reason, and a path that leaves the folder is refused", async () => {
  for (const [set, sentence] of [
    [{ state: "failed", failure: "it has no rows" }, /^RefusedError: ts_1 could not be built: it has no rows$/],
    [{ state: "expired" }, /^RefusedError: ts_1 expired at 1970-01-01T00:00:00Z; dl training-set create builds/],
  ] as const) {
    await using server = await startSet(PATHS, set);
    assert.match(String((await server.pull()).failure), sentence);
  }
  for (const path of ["../a", "/a", "data/../../a", "a//b", "data/\u001b"]) {
    await using server = await startSet([path]);
    assert.match(String((await server.pull()).failure), /^RefusedError: the service names a file /);
    assert.deepEqual(readdirSync(server.folder), []);
  }
});

test("a folder that has another set is refused, and one whose file about it was cut is not", async () => {
  await using server = await startSet(PATHS, { state: "ready", identity: "0123456789abcdef" });
  const about = server.at("downlink.json");
  writeFileSync(about, JSON.stringify({ identity: "fedcba9876543210" }));
  const { failure } = await server.pull();
  assert.match(String(failure), /has another training set, of the identity fedcba987654…; name another folder$/);
  assert.equal(existsSync(server.at("meta/info.json")), false);
  writeFileSync(about, '{"identity":"fedcba98');
  assert.match((await server.pull()).noted, /: 4 files, /);
});
