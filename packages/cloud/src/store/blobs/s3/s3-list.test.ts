import assert from "node:assert/strict";
import { test } from "node:test";
import { slowTest } from "@downlink/recordings/testing";
import type { ListedObject } from "../blob-store.ts";
import { listBucket } from "../buckets/list-bucket.ts";
import { connectBucket } from "./bucket.ts";
import { s3Client } from "./s3-client.ts";

const PAGE = 1000;
const EARLY_MS = Date.UTC(2026, 0, 1);
const LATE_MS = Date.UTC(2026, 0, 2);

interface Stub {
  /** The names of objects and of unfinished uploads, in the order in which the bucket lists them. */
  readonly objects: readonly string[];
  readonly uploads: readonly string[];
}

interface Input {
  readonly Prefix?: string;
  readonly ContinuationToken?: string;
  readonly KeyMarker?: string;
  readonly Key?: string;
}

/** Opens a bucket that answers from memory, page by page, and counts the entries that it has returned. */
function openStub({ objects, uploads }: Stub) {
  const bucket = connectBucket({
    ...{ bucket: "b", endpoint: "http://127.0.0.1:1", region: "us-east-1", prefix: "p/", forcePathStyle: true },
    credentials: { accessKeyId: "a", secretAccessKey: "b" },
  });
  const returned = { uploads: 0, objects: 0, looks: 0 };
  const known = new Set(objects);
  const pageOf = (names: readonly string[], prefix: string, from: string | undefined) => {
    const own = prefix === "p/" ? names : names.filter((name) => `p/${name}`.startsWith(prefix));
    const start = Number(from ?? 0);
    const end = start + PAGE;
    return { names: own.slice(start, end), next: end < own.length ? String(end) : undefined };
  };
  const answers: Record<string, (input: Input) => object> = {
    ListObjectsV2Command({ Prefix = "", ContinuationToken }) {
      const { names, next } = pageOf(objects, Prefix, ContinuationToken);
      returned.objects += names.length;
      const Contents = names.map((name) => ({ Key: `p/${name}`, Size: 1, LastModified: new Date(EARLY_MS) }));
      return { Contents, IsTruncated: next !== undefined, NextContinuationToken: next };
    },
    ListMultipartUploadsCommand({ Prefix = "", KeyMarker }) {
      const { names, next } = pageOf(uploads, Prefix, KeyMarker);
      returned.uploads += names.length;
      const Uploads = names.map((name) => ({ Key: `p/${name}`, UploadId: name, Initiated: new Date(EARLY_MS) }));
      return { Uploads, IsTruncated: next !== undefined, NextKeyMarker: next, NextUploadIdMarker: "x" };
    },
    ListPartsCommand: () => ({ Parts: [{ PartNumber: 1, ETag: "e", Size: 7, LastModified: new Date(LATE_MS) }] }),
    HeadObjectCommand({ Key }) {
      returned.looks += 1;
      if (!known.has(Key!.slice(2)))
        throw Object.assign(new Error("none"), { name: "NotFound", $metadata: { httpStatusCode: 404 } });
      return { ContentLength: 1, LastModified: new Date(EARLY_MS) };
    },
    HeadBucketCommand: () => ({}),
  };
  bucket.client.middlewareStack.add(
    (_next, { commandName }) =>
      async ({ input }) => ({ output: { $metadata: {}, ...answers[commandName!]!(input as Input) }, response: {} }),
    { step: "initialize", priority: "low", name: "stub" },
  );
  return { bucket: s3Client(bucket), returned };
}

function keyAt(index: number): string {
  return `org/${String(index).padStart(7, "0")}`;
}

async function listAll(stub: Stub): Promise<ListedObject[]> {
  return Array.fromAsync(listBucket(openStub(stub).bucket, ""));
}

slowTest(
  "100,000 objects and unfinished uploads are each listed once, with only some thousands in memory",
  async () => {
    const objects = Array.from({ length: 80_000 }, (_, index) => keyAt(2 * index));
    // Every tenth upload has an object that exists already.
    const uploads = Array.from({ length: 20_000 }, (_, index) => keyAt(8 * index + (index % 10 === 0 ? 0 : 1)));
    const { bucket, returned } = openStub({ objects, uploads });
    let whole = 0;
    let unfinished = 0;
    let both = 0;
    let lastKey = "";
    for await (const { key, isWhole, sizeBytes, modifiedAtMs } of listBucket(bucket, "")) {
      assert.ok(key > lastKey, `${key} after ${lastKey}`);
      lastKey = key;
      assert.equal(sizeBytes, isWhole ? 1 : 7);
      if (!isWhole) unfinished += 1;
      else whole += 1;
      if (isWhole && modifiedAtMs === LATE_MS) both += 1;
      const heldCount = returned.uploads - unfinished - both + returned.objects - whole;
      assert.ok(heldCount <= 5000 + 3 * PAGE, `${heldCount} are held`);
    }
    assert.deepEqual([whole, unfinished, both], [80_000, 18_000, 2000]);
    assert.equal(returned.looks, 0);
  },
);

test("pieces count for the upload that they belong to, and neither they nor notes are objects", async () => {
  const objects = [
    "_downlink/marks/1",
    "_pieces/org/a/1.ab",
    "_pieces/org/a/2.cd",
    "_pieces/org/c/1.ef",
    "org/b",
    "org/c",
  ];
  const listed = await listAll({ objects, uploads: ["org/a", "org/a"] });
  assert.deepEqual(
    listed.map(({ key, isWhole, sizeBytes, modifiedAtMs }) => [key, isWhole, sizeBytes, modifiedAtMs]),
    [
      ["org/a", false, 16, LATE_MS],
      ["org/b", true, 1, EARLY_MS],
      ["org/c", true, 1, EARLY_MS],
    ],
  );
});

test("uploads that the bucket lists a little out of order are each listed once, and not where an object exists", async () => {
  const listed = await listAll({
    objects: ["org/a", "org/a-b", "org/a/c"],
    uploads: ["org/a-b", "org/a/c", "org/a", "org/z"],
  });
  assert.deepEqual(
    listed.map(({ key, isWhole }) => [key, isWhole]),
    [
      ["org/a", true],
      ["org/a-b", true],
      ["org/a/c", true],
      ["org/z", false],
    ],
  );
});

test("for an upload that is listed much too late the bucket is asked, so that no object is listed as unfinished", async () => {
  const objects = Array.from({ length: 6000 }, (_, index) => keyAt(2 * index));
  const uploads = [...objects.map((key) => `${key}x`), keyAt(0), keyAt(1)];
  const { bucket, returned } = openStub({ objects, uploads });
  const listed = await Array.fromAsync(listBucket(bucket, ""));
  assert.equal(listed.filter(({ key }) => key === keyAt(0)).length, 1);
  assert.deepEqual(listed.filter(({ key, isWhole }) => key === keyAt(1) && !isWhole).length, 1);
  assert.equal(listed.length, 12_001);
  assert.ok(returned.looks >= 1);
});

test("a bucket that does not list its keys in order is refused", async () => {
  await assert.rejects(listAll({ objects: ["org/b", "org/a"], uploads: [] }), /does not list its keys in order/);
});
