// Shows what the SDK alone does, as a reference: `put <file>` writes the file to the bucket as a multipart upload, whose object is removed;
// `get <prefix>` reads the largest object below the prefix by one request. Both print how many seconds it took, and how many of a
// processor. The bucket and its endpoint come from DOWNLINK_S3_BUCKET and DOWNLINK_S3_ENDPOINT.
import { randomBytes } from "node:crypto";
import { open } from "node:fs/promises";
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  paginateListObjectsV2,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";

/** As an agent sends a file. */
const PART_BYTES = 16 * 1024 * 1024;
const PARTS_AT_ONCE = 3;

const [verb, target] = process.argv.slice(2) as ["put" | "get", string];
const Bucket = process.env.DOWNLINK_S3_BUCKET!;
const client = new S3Client({
  endpoint: process.env.DOWNLINK_S3_ENDPOINT!,
  region: "us-east-1",
  forcePathStyle: true,
  requestChecksumCalculation: "WHEN_REQUIRED",
  responseChecksumValidation: "WHEN_REQUIRED",
});
const { user, system } = process.cpuUsage();
const seconds = verb === "put" ? await putFile(target) : await getLargest(target);
const usage = process.cpuUsage({ user, system });
console.log(`${seconds} ${(usage.user + usage.system) / 1e6}`);
client.destroy();

async function putFile(path: string): Promise<number> {
  await using file = await open(path);
  const { size } = await file.stat();
  const place = { Bucket, Key: `raw-${randomBytes(6).toString("hex")}` };
  const startedMs = performance.now();
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(place));
  const numbers = Array.from({ length: Math.ceil(size / PART_BYTES) }, (_, index) => index + 1);
  const waiting = numbers.values();
  const parts: { PartNumber: number; ETag: string }[] = [];
  const send = async () => {
    for (const PartNumber of waiting) {
      const offset = (PartNumber - 1) * PART_BYTES;
      const Body = Buffer.allocUnsafeSlow(Math.min(PART_BYTES, size - offset));
      await file.read(Body, 0, Body.byteLength, offset);
      const { ETag } = await client.send(new UploadPartCommand({ ...place, UploadId, PartNumber, Body }));
      parts.push({ PartNumber, ETag: ETag! });
    }
  };
  await Promise.all(Array.from({ length: PARTS_AT_ONCE }, send));
  const MultipartUpload = { Parts: parts.sort((a, b) => a.PartNumber - b.PartNumber) };
  await client.send(new CompleteMultipartUploadCommand({ ...place, UploadId, MultipartUpload }));
  const seconds = (performance.now() - startedMs) / 1000;
  await client.send(new DeleteObjectCommand(place));
  return seconds;
}

async function getLargest(Prefix: string): Promise<number> {
  let largest = { Key: "", Size: -1 };
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket, Prefix }))
    for (const { Key, Size } of Contents) if (Size! > largest.Size) largest = { Key: Key!, Size: Size! };
  const startedMs = performance.now();
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: largest.Key }));
  let bytes = 0;
  for await (const piece of Body as AsyncIterable<Uint8Array>) bytes += piece.byteLength;
  if (bytes !== largest.Size) throw new Error(`${bytes} of ${largest.Size} bytes came`);
  return (performance.now() - startedMs) / 1000;
}
