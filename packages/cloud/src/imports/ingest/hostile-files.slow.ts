import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { corrupt, eventually, hostileFiles, makeBag, makeMcap } from "@downlink/recordings/testing";
import { startCloud } from "../../testing/start-cloud.ts";

const cloud = await startCloud({ after });
const { admin } = cloud;
const { prisma } = cloud.deps.db;

interface Upload {
  readonly name: string;
  readonly fileName: string;
  readonly code: string;
  readonly make: () => Uint8Array | Promise<Uint8Array>;
}

/** Files with contents that only the database or a list would refuse. */
const unstorable: Upload[] = [
  {
    name: "a topic's name that no index can hold",
    fileName: "names.mcap",
    code: "NameTooLong",
    make: () => makeMcap({ topics: [{ topic: `/${randomBytes(2000).toString("hex")}`, kind: "log", rateHz: 5 }] }),
  },
  {
    name: "5 MB of metadata",
    fileName: "metadata.mcap",
    code: "MetadataTooLarge",
    make: () => makeMcap({ metadata: [{ name: "m", metadata: { k: "v".repeat(5e6) } }] }),
  },
  {
    name: "a key that no index can hold",
    fileName: "key.mcap",
    code: "InvalidKey",
    make: () => makeMcap({ metadata: [{ name: "downlink", metadata: { key: "🤖".repeat(900) } }] }),
  },
];

const codes: Record<string, string> = { finished: "complete", empty: "EmptyRecording" };
const madeHostile = hostileFiles.map(({ name, code, make }): Upload => {
  return { name, fileName: "hostile.mcap", code: codes[code] ?? code, make };
});

/** Uploads a file and returns its request's id. */
async function upload(filename: string, bytes: Uint8Array): Promise<string> {
  const { link, requestId } = await admin.call(api.uploads.create, { filename, deviceName: "robot" });
  const headers = { "content-type": "application/octet-stream" };
  const response = await fetch(link, { method: "PUT", headers, body: bytes as Uint8Array<ArrayBuffer> });
  assert.equal(response.status, 200);
  return requestId;
}

const requestOf = (id: string) => prisma.importRequest.findUniqueOrThrow({ where: { id } });
const hasEnded = ({ state }: { state: string }) => state === "complete" || state === "error";

test("each hostile file is refused with its code and a sentence and quarantined, and the good files behind it are imported", async () => {
  const files = [...madeHostile, ...unstorable];
  const bodies = await Promise.all(files.map(({ make }) => make())); // all are made before: making them takes longer than a connection may idle
  const good: string[] = [];
  const uploaded = new Map<Upload, string>();
  for (const [index, file] of files.entries()) {
    uploaded.set(file, await upload(file.fileName, bodies[index]!));
    const startNs = BigInt(index + 1) * 1_000_000_000n;
    good.push(await upload(`good-${index}.mcap`, await makeMcap({ startNs, durationSeconds: 0.1 })));
  }
  for (const id of good) assert.equal((await eventually(() => requestOf(id), hasEnded)).state, "complete");
  for (const [{ name, code }, id] of uploaded) {
    const { state, errorCode, errorText, quarantinedAtNs, blobKey } = await eventually(() => requestOf(id), hasEnded);
    assert.equal(errorCode ?? state, code, name);
    if (state === "complete") continue;
    assert.ok(errorText!.length > 20 && quarantinedAtNs !== null, name);
    assert.ok(await cloud.deps.blobs.stat(blobKey!), `the object of ${name} is kept`);
  }
  assert.equal(await prisma.recordingTopic.count({ where: { topic: { endsWith: "xxxx" } } }), 65_535);
});

test("broken variants of a recording end complete or quarantined with a reason, at their first attempt", async () => {
  const small = { durationSeconds: 0.1, chunkBytes: 4096, metadata: [], attachments: [] };
  const variants = [
    ...corrupt(await makeMcap(small), "a.mcap"),
    ...corrupt(await makeBag({ durationSeconds: 0.1 }), "a.bag"),
  ];
  const sample = variants.filter((_, index) => index % 4 === 0); // the tests of @downlink/recordings read all of them
  const ids: string[] = [];
  for (const { fileName, bytes } of sample) ids.push(await upload(fileName, bytes));
  for (const [index, id] of ids.entries()) {
    const { state, errorCode, attempts } = await eventually(() => requestOf(id), hasEnded);
    assert.equal(attempts, 1, sample[index]!.name);
    if (state === "error") assert.ok(errorCode, sample[index]!.name);
  }
});
