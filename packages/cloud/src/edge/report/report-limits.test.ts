import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, ErrorBody, edgeLimits, LEASE_HEADER } from "@downlink/protocol";
import { z } from "zod";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, sha256, startAgent } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const agent = await startAgent(cloud, "hostile");
let sequence = 0;

/** Sends what no client of ours would send, because it checks first. */
const send = (...upserts: object[]) => sendReport({ upserts });

async function sendReport(report: object) {
  sequence += 1;
  const response = await fetch(`${cloud.url}${api.edge.report.path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${agent.token}`, [LEASE_HEADER]: String(agent.hello.lease) },
    body: JSON.stringify({ sequence, ...report }),
  });
  return { status: response.status, body: await response.json() };
}

function item(more: object): object {
  const { start, end, modifiedAt, ...rest } = recordingItem();
  const times = { start: "2026-01-01T00:00:00Z", end: "2026-01-01T00:01:00Z", modifiedAt: "2026-01-01T00:02:00Z" };
  return { ...rest, ...times, ...more };
}

function topic(more: object) {
  const schema = { schemaName: "", schemaEncoding: "", schemaSha256: sha256("") };
  return { topic: "/t", version: "v1", encoding: "cdr", ...schema, messageCount: 1, ...more };
}

const refused: [what: string, broken: object, sentence: RegExp][] = [
  ["a topic twice", { topics: [topic({}), topic({})] }, /topics must name no topic twice in one version/],
  ["an end before the start", { end: "2025-12-31T00:00:00Z" }, /end must not be before start/],
  ["a span beyond 64 bits", { start: "1700-01-01", end: "2200-01-01" }, /nor more than 292 years after it/],
  [
    "a name of a topic above 1024 characters",
    { topics: [topic({ topic: "x".repeat(1025) })] },
    /topics\.0\.topic must/,
  ],
  ["a name that no index holds", { topics: [topic({ topic: unpackable(1024) })] }, /text .* that cannot be stored/],
  ["a path above 4096 characters", { path: "x".repeat(4097) }, /path must/],
];
for (const [what, broken, sentence] of refused)
  test(`${what} is a 400 that says so, and nothing of the report is stored`, async () => {
    const { status, body } = await send(item({}), item(broken), item({}));
    assert.equal(status, 400);
    assert.match(ErrorBody.parse(body).error.replace("upserts.1", "upserts.0"), sentence);
    assert.equal(await cloud.deps.db.prisma.recording.count(), 0);
  });

test("texts that a database cannot hold are stored as escapes and refuse no report; any key of metadata is kept", async () => {
  const metadata = [{ name: "n\0", metadata: JSON.parse('{"__proto__":"kept","k\\u0000":"\\ud800"}') as object }];
  const odd = {
    path: "a\0\ud800.mcap",
    key: "\0",
    metadata,
    attachments: [attachment("\0")],
    topics: [topic({ topic: "\0" })],
  };
  assert.deepEqual((await send(item(odd))).status, 200);
  const [recording] = await cloud.admin.call(api.recordings.list, {});
  assert.deepEqual([recording!.path, recording!.key], ["a\\u0000\\ud800.mcap", "\\u0000"]);
  const [{ name, metadata: texts }] = recording!.metadata as [{ name: string; metadata: Record<string, string> }];
  assert.equal(name, "n\\u0000");
  assert.deepEqual(Object.entries(texts).sort(), [
    ["__proto__", "kept"],
    ["k\\u0000", "\\ud800"],
  ]);
  const [listed] = await cloud.admin.call(api.topics.list, { recordingId: recording!.id });
  assert.equal(listed!.topic, "\\u0000");
  const stored = await cloud.deps.db.prisma.recordingAttachment.findFirstOrThrow();
  assert.equal(stored.name, "\\u0000");
  await cloud.deps.db.prisma.recording.deleteMany({});
});

test("thousands of errors are a 400 that names the first ones", async () => {
  const { status, body } = await send(...Array.from({ length: 100 }, () => item({ topics: Array(20).fill({}) })));
  assert.equal(status, 400);
  const { error, details } = ErrorBody.parse(body);
  assert.equal(details!.length, 30);
  assert.match(error, /; and \d+ more$/);
});

test("more items than a report holds are a 400, more bytes a 413", async () => {
  const many = await send(...Array.from({ length: edgeLimits.itemsPerReport + 1 }, () => item({})));
  assert.equal(many.status, 400);
  const topics = Array.from({ length: 30_000 }, (_, n) => topic({ topic: `/${n}` }));
  const large = await send(item({ topics }));
  assert.equal(large.status, 413);
  assert.match(ErrorBody.parse(large.body).error, /is longer than 4194304 bytes/);
});

test("a report within the limits is accepted: thousands of topics, a megabyte of metadata, the longest path and key", async () => {
  const topics = Array.from({ length: 2000 }, (_, n) => topic({ topic: `/${n}` }));
  const metadata = [{ name: "long", metadata: { text: "x".repeat(1024 * 1024) } }];
  const { status, body } = await send(
    item({ topics }),
    item({ metadata }),
    item({ path: unpackable(4096), key: "x".repeat(1024), start: "1677-10-01", end: "1677-10-01" }),
  );
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(z.object({ unknownSchemas: z.array(z.string()) }).parse(body).unknownSchemas.length, 1);
  assert.equal(await cloud.deps.db.prisma.recording.count(), 3);
});

test("ten thousand schemas are accepted at once, and none is requested again", async () => {
  const schemas = Array.from({ length: 10_000 }, (_, n) => ({ sha256: sha256(`${n}`), data: btoa(`${n}`) }));
  for (const upserts of [[], []]) assert.equal((await sendReport({ upserts, schemas })).status, 200);
  assert.equal(await cloud.deps.db.prisma.schemaText.count(), 10_000);
  const stored = await cloud.deps.db.prisma.schemaText.findFirstOrThrow({ where: { sha256: sha256("77") } });
  assert.equal(Buffer.from(stored.data).toString(), "77");
});

/** Makes a text of three bytes per character that no compression makes shorter. */
function unpackable(length: number): string {
  return Array.from({ length }, () => String.fromCharCode(0x4e00 + Math.floor(Math.random() * 0x5000))).join("");
}

function attachment(name: string) {
  const time = "2026-01-01T00:00:00Z";
  return { name, mediaType: "", logTime: time, createTime: time, crc: 0, dataOffset: 0, size: 0 };
}
