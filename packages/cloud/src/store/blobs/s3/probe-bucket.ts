import { randomBytes } from "node:crypto";
import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from "@aws-sdk/client-s3";
import type { Multipart } from "../buckets/bucket-client.ts";
import { findFaults, WrongCredentialsError } from "../buckets/bucket-unavailable.ts";
import { type Bucket, type BucketOptions, connectBucket, findObject, placeOf } from "./bucket.ts";
import { abortMultipart, beginMultipart, hasStoredPart, joinParts, listMultiparts, sendPart } from "./multipart.ts";
import { isS3Error } from "./s3-errors.ts";

const BYTES = Buffer.from("Downlink looks whether it may use this bucket.");

interface Probe {
  readonly bucket: Bucket;
  readonly object: { readonly Bucket: string; readonly Key: string };
  readonly key: string;
}

/** The operations that the store needs of a bucket, each with an object of its own that is removed afterwards. */
const steps: Readonly<Record<string, (probe: Probe) => Promise<void>>> = {
  write: async ({ bucket, object }) => {
    await bucket.client.send(new PutObjectCommand({ ...object, Body: BYTES, IfNoneMatch: "*" }));
  },
  "write once": async ({ bucket, object }) => {
    const again = new PutObjectCommand({ ...object, Body: BYTES, IfNoneMatch: "*" });
    const isRefused = await bucket.client.send(again).then(
      () => false,
      (error) => isS3Error(error, "PreconditionFailed", "ConditionalRequestConflict") || Promise.reject(error),
    );
    if (!isRefused) throw new Error("it replaces an object in spite of If-None-Match, and so may lose one");
  },
  read: async ({ bucket, key }) => {
    if ((await findObject(bucket, key))?.ContentLength !== BYTES.byteLength)
      throw new Error("it does not have what was just written");
  },
  "read a range": async ({ bucket, object }) => {
    const { Body } = await bucket.client.send(new GetObjectCommand({ ...object, Range: "bytes=3-9" }));
    const bytes = Buffer.from(await Body!.transformToByteArray());
    if (!bytes.equals(BYTES.subarray(3, 10))) throw new Error("it answers a range with other bytes");
  },
  list: async ({ bucket, object: { Bucket, Key } }) => {
    const { Contents = [] } = await bucket.client.send(new ListObjectsV2Command({ Bucket, Prefix: Key }));
    if (Contents.length !== 1) throw new Error("it does not list what was just written");
  },
  delete: async ({ bucket, object }) => {
    await bucket.client.send(new DeleteObjectCommand(object));
  },
  "upload in parts": async ({ bucket, key }) => {
    const upload = await beginMultipart(bucket, key);
    const part = await sendPart(bucket, upload, { number: 1, bytes: BYTES });
    await joinParts(bucket, upload, [part]);
  },
  "list parts": (probe) =>
    withUpload(probe, async (upload) => {
      await sendPart(probe.bucket, upload, { number: 1, bytes: BYTES });
      if (!(await hasStoredPart(probe.bucket, upload, 1))) throw new Error("it does not list a part that it took");
    }),
  "list unfinished uploads": (probe) =>
    withUpload(probe, async ({ uploadId }) => {
      const listed = await Array.fromAsync(listMultiparts(probe.bucket, probe.key));
      if (!listed.some((upload) => upload.uploadId === uploadId))
        throw new Error("it does not list one that was begun");
    }),
  "abort an upload": async ({ bucket, key }) => abortMultipart(bucket, await beginMultipart(bucket, key)),
};

async function withUpload({ bucket, key }: Probe, act: (upload: Multipart) => Promise<void>): Promise<void> {
  const upload = await beginMultipart(bucket, key);
  try {
    await act(upload);
  } finally {
    await abortMultipart(bucket, upload).catch(() => {}); // has a step of its own
  }
}

/** Returns what the bucket does not do as it must, one sentence each; an empty list if the bucket can be used. */
export async function probeBucket(options: BucketOptions): Promise<string[]> {
  using bucket = connectBucket({ ...options, attempts: 3 });
  return await findFaults(() => runSteps(bucket));
}

async function runSteps(bucket: Bucket): Promise<string[]> {
  const faults: string[] = [];
  for (const [what, step] of Object.entries(steps)) {
    const key = `_downlink/probe-${randomBytes(8).toString("hex")}`;
    const fault = await faultOf(step, { bucket, key, object: placeOf(bucket, key) });
    if (fault !== undefined) faults.push(`${what}: ${fault}`);
  }
  return [...new Set(faults)];
}

/** Each step prepares what it needs, so that a step that is refused does not hide the others. */
async function faultOf(step: (probe: Probe) => Promise<void>, probe: Probe): Promise<string | undefined> {
  const { bucket, object } = probe;
  try {
    if (needsObject.has(step)) await bucket.client.send(new PutObjectCommand({ ...object, Body: BYTES }));
    await step(probe);
    return undefined;
  } catch (error) {
    if (error instanceof WrongCredentialsError) throw error;
    return (error as Error).message;
  } finally {
    await bucket.client.send(new DeleteObjectCommand(object)).catch(() => {}); // has a step of its own
  }
}

const needsObject = new Set(["write once", "read", "read a range", "list", "delete"].map((what) => steps[what]));
