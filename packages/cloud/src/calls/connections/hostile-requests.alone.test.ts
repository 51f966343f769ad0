import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, bodyLimits } from "@downlink/protocol";
import { request } from "undici";
import { startCloud } from "../../testing/start-cloud.ts";
import { readQuery } from "../serve/parse.ts";

/** The highest cost of a request, as a multiple of the plain list of devices; something quadratic costs hundreds. */
const MOST = 100;
const HEADER_BYTES = 60_000;

const cloud = await startCloud({ after }, { works: false });
const { id: deviceId } = await cloud.admin.call(api.devices.create, { name: "robot" });
for (let warmed = 0; warmed < 20; warmed++) await send({});
await send(post("/v1/layouts", `{${" ".repeat(100_000)}}`)); // the thread for large bodies starts
const plainMs = (await cpuMsOf(() => repeat(20, () => send({})))) / 20;

interface Sent {
  readonly method?: "GET" | "POST";
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

async function send({ method = "GET", path = "/v1/devices?limit=1", headers, body }: Sent): Promise<number> {
  const given = { authorization: `Bearer ${cloud.adminKey}`, ...headers };
  const answer = await request(`${cloud.url}${path}`, { method, headers: given, body });
  await answer.body.dump();
  return answer.statusCode;
}

/** Measures the CPU time of this process, which is client and server; other programs on the machine are not counted. */
async function cpuMsOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function repeat(times: number, work: () => Promise<unknown>): Promise<void> {
  for (let time = 0; time < times; time++) await work();
}

function filled(piece: string, bytes = HEADER_BYTES): string {
  return piece.repeat(Math.floor(bytes / piece.length));
}

const event = `"deviceId":"${deviceId}","start":"2026-01-01T00:00:00Z","end":"2026-01-01T00:00:00Z"`;
const { ordinary, large } = bodyLimits;
const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const members = (count: number) => Array.from({ length: count }, (_, at) => `"${at}":"x"`).join();

const hostile: readonly [what: string, status: number, Sent][] = [
  ["one parameter 30,000 times", 400, { path: `/v1/devices?${filled("a&")}` }],
  ["many different parameters", 400, { path: `/v1/devices?${Array.from({ length: 9000 }, (_, at) => at).join("&")}` }],
  ["one parameter as many times as it may come", 200, { path: `/v1/devices?${"a=1&".repeat(1000)}` }],
  ["a name of slashes", 200, { path: `/v1/devices?${filled("/")}x=1` }],
  ["a name of indexes", 200, { path: `/v1/devices?${filled("a/1")}x=1` }],
  ["a value of commas", 200, { path: `/v1/devices?name=${filled(",")}` }],
  ["a value of percent signs", 200, { path: `/v1/devices?name=${filled("%")}` }],
  ["a number of many digits", 200, { path: `/v1/devices?limit=${filled("0")}` }],
  ["a time of many digits", 400, { path: `/v1/recordings?start=2026-01-01T00:00:00.${filled("1")}` }],
  ["a query of many terms", 400, { path: `/v1/events?query=${filled("a:b,")}` }],
  ["a path of slashes", 404, { path: `/v1${filled("/")}` }],
  ["a path of segments", 404, { path: `/v1${filled("/a")}` }],
  ["a path of dots", 404, { path: `/v1/devices${filled("/..")}/nowhere` }],
  ["a name in the path of percent signs", 404, { path: `/v1/devices/${filled("%")}` }],
  ["a name in the path of broken characters", 404, { path: `/v1/devices/${filled("%ff")}` }],
  ["many cookies", 200, { headers: { cookie: filled("a=b;") } }],
  ["an odd request id", 200, { headers: { "x-request-id": filled("a") } }],
  ["a token of spaces", 401, { headers: { authorization: `Bearer x${filled(" ")}x` } }],
  ["a body of brackets", 400, post("/v1/devices", nested(ordinary.values))],
  ["a body of more brackets", 413, post("/v1/devices", nested(ordinary.bytes / 4))],
  [
    "a layout of brackets",
    413,
    post("/v1/layouts", `{"name":"deep","permission":"ORG_WRITE","data":{"a":${nested(large.containers - 2)}}}`),
  ],
  ["metadata of many entries", 413, post("/v1/events", `{${event},"metadata":{${members(80_000)}}}`)],
  ["metadata of 4 MiB", 413, post("/v1/events", `{${event},"metadata":{${members(380_000)}}}`)],
  [
    "metadata of wrong values",
    400,
    post("/v1/events", `{${event},"metadata":{${members(9990).replaceAll('"x"', "1")}}}`),
  ],
  ["one member many times", 413, post("/v1/devices", `{${filled('"name":"a",', 200_000)}"name":"b"}`)],
  ["a name of spaces", 400, post("/v1/devices", `{"name":"${" ".repeat(900_000)}"}`)],
];

function post(path: string, body: string): Sent {
  return { method: "POST", path, body, headers: { "content-type": "application/json" } };
}

for (const [what, status, sent] of hostile)
  test(`${what}: costs no more than a few ordinary requests`, async () => {
    const cpuMs = await cpuMsOf(async () => assert.equal(await send(sent), status));
    assert(cpuMs < MOST * plainMs, `${cpuMs} ms beside ${plainMs} ms of a plain list`);
  });

test("a query is parsed once for all of its parameters", () => {
  const repeated = Array.from({ length: 1000 }, (_, at) => `a=${at}`).join("&");
  assert.equal(readQuery(`http://x/?${repeated}`).a?.length, 1000);
  assert.throws(() => readQuery(`http://x/?${repeated}&b=1`), { code: "InvalidRequest" });
});
