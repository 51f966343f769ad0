import { createHash } from "node:crypto";
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  NoSuchKey,
  PutBucketPolicyCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from "@aws-sdk/client-s3";
import type { TestBucket, TestObject } from "../../../testing/test-store.ts";

/** Credentials are those of the environment unless they are given. */
export interface BucketPlace extends Pick<TestBucket, "endpoint" | "bucket"> {
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** Key, size and SHA-256 of every object below a prefix. */
export async function readObjects(place: BucketPlace, prefix = ""): Promise<TestObject[]> {
  using client = connect(place);
  const objects: TestObject[] = [];
  for await (const { key, sizeBytes } of listBelow(client, place, prefix)) {
    const bytes = await readObject(client, place, key);
    if (!bytes) continue; // it was removed meanwhile
    objects.push({
      key: key.slice(prefix.length),
      sizeBytes,
      sha256: createHash("sha256").update(bytes).digest("hex"),
    });
  }
  return objects;
}

async function readObject(client: S3Client, { bucket }: BucketPlace, key: string): Promise<Uint8Array | undefined> {
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    return await Body!.transformToByteArray();
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}

export async function keepVersions(place: BucketPlace): Promise<void> {
  using client = connect(place);
  const VersioningConfiguration = { Status: "Enabled" } as const;
  await client.send(new PutBucketVersioningCommand({ Bucket: place.bucket, VersioningConfiguration }));
}

/** Copies every object below a prefix to another one. */
export async function copyObjects(place: BucketPlace, from: string, to: string): Promise<void> {
  using client = connect(place);
  const Bucket = place.bucket;
  for await (const { key } of listBelow(client, place, from)) {
    const CopySource = encodeURI(`${Bucket}/${key}`);
    await client.send(new CopyObjectCommand({ Bucket, CopySource, Key: to + key.slice(from.length) }));
  }
}

/** Removes every object below a prefix. */
export async function removeObjects(place: BucketPlace, prefix: string): Promise<void> {
  using client = connect(place);
  for await (const { key } of listBelow(client, place, prefix))
    await client.send(new DeleteObjectCommand({ Bucket: place.bucket, Key: key }));
}

async function* listBelow(client: S3Client, { bucket }: BucketPlace, prefix: string) {
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix }))
    for (const { Key, Size } of Contents) yield { key: Key!, sizeBytes: Size! };
}

export async function writeObject(place: BucketPlace, key: string, bytes: Uint8Array): Promise<void> {
  using client = connect(place);
  await client.send(new PutObjectCommand({ Bucket: place.bucket, Key: key, Body: bytes }));
}

/** Requests of one filling that are under way at the same time. */
const FILLED_AT_ONCE = 32;

/** Writes the same bytes under each of the names. */
export async function fillBucket(place: BucketPlace, names: Iterable<string>, bytes: Uint8Array): Promise<void> {
  using client = connect(place);
  const waiting = names[Symbol.iterator]();
  const write = async () => {
    for (let next = waiting.next(); !next.done; next = waiting.next())
      await client.send(new PutObjectCommand({ Bucket: place.bucket, Key: next.value, Body: bytes }));
  };
  await Promise.all(Array.from({ length: FILLED_AT_ONCE }, write));
}

export async function makeBucket(place: BucketPlace): Promise<void> {
  using client = connect(place);
  await client.send(new CreateBucketCommand({ Bucket: place.bucket }));
}

function connect({ endpoint, credentials }: BucketPlace): S3Client & Disposable {
  const client = new S3Client({
    endpoint,
    region: "us-east-1",
    forcePathStyle: true,
    ...(credentials && { credentials }),
  });
  return Object.assign(client, { [Symbol.dispose]: () => client.destroy() });
}

/** The permissions that a site needs. */
const READS = ["s3:ListBucket", "s3:GetObject", "s3:GetObjectVersion"] as const;
export type ReadPermission = (typeof READS)[number];

/** Lets a user of Ceph do this in the bucket, and nothing else. */
export async function allowReads(
  place: BucketPlace,
  user: string,
  allowed: readonly ReadPermission[] = READS,
): Promise<void> {
  const resource = `arn:aws:s3:::${place.bucket}`;
  const Statement = [
    {
      Effect: "Allow",
      Principal: { AWS: [`arn:aws:iam:::user/${user}`] },
      Action: allowed,
      Resource: [resource, `${resource}/*`],
    },
  ];
  using client = connect(place);
  const Policy = JSON.stringify({ Version: "2012-10-17", Statement });
  await client.send(new PutBucketPolicyCommand({ Bucket: place.bucket, Policy }));
}
