import { HeadBucketCommand, HeadObjectCommand, type HeadObjectCommandOutput, S3Client } from "@aws-sdk/client-s3";
import { checkKey } from "../object-key.ts";
import { BucketUnavailableError, isS3Error, toStoreError } from "./s3-errors.ts";

export interface BucketOptions {
  readonly bucket: string;
  /** Undefined: that of AWS for the region. */
  readonly endpoint?: string | undefined;
  readonly region: string;
  /** What the names of all objects begin with; empty, or with a slash at its end. */
  readonly prefix: string;
  /** The bucket's name stands in the path instead of the host name. */
  readonly forcePathStyle: boolean;
  /** Undefined: those that the SDK finds in the environment, in files or by the machine's role. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** How long the bucket may be silent. Default 60 s. */
  readonly silenceMs?: number;
  /** Objects above this are written in parts of this size, which are held in memory. Default 8 MiB. */
  readonly blockBytes?: number;
  /** How often a call is sent that is refused for a time (503, connection lost). Default 6. */
  readonly attempts?: number;
}

/** Some calls take long, such as the completion of an upload of thousands of parts; but they send something meanwhile. */
const SILENCE_MS = 60_000;
const BLOCK_BYTES = 8 * 1024 * 1024;
const CONNECT_MS = 5_000;
const ATTEMPTS = 6;
/** Whoever reads slowly holds its connection. */
const MAX_CONNECTIONS = 512;

/** A bucket, and where in it the objects stand. */
export interface Bucket extends Disposable {
  readonly client: S3Client;
  readonly name: string;
  readonly prefix: string;
  readonly blockBytes: number;
}

/** Its calls reject with what `s3-errors.ts` makes of the answers. */
export function connectBucket(options: BucketOptions): Bucket {
  const silenceMs = options.silenceMs ?? SILENCE_MS;
  const client = new S3Client({
    region: options.region,
    forcePathStyle: options.forcePathStyle,
    maxAttempts: options.attempts ?? ATTEMPTS,
    // Checksums of the SDK's own are unknown to many stores; Content-MD5 is known to all.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: silenceMs,
      throwOnRequestTimeout: true,
      socketTimeout: silenceMs,
      httpAgent: { maxSockets: MAX_CONNECTIONS },
      httpsAgent: { maxSockets: MAX_CONNECTIONS },
    },
    ...(options.endpoint !== undefined && { endpoint: options.endpoint }),
    ...(options.credentials && { credentials: options.credentials }),
  });
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (call) => {
        try {
          return await next(call);
        } catch (error) {
          throw toStoreError(error, String(commandName));
        }
      },
    { step: "initialize", priority: "high", name: "storeErrors" },
  );
  return {
    client,
    name: options.bucket,
    prefix: options.prefix,
    blockBytes: options.blockBytes ?? BLOCK_BYTES,
    [Symbol.dispose]: () => client.destroy(),
  };
}

/** Where the object of a key stands. Throws a TypeError for what is no key. */
export function placeOf(bucket: Bucket, key: string): { Bucket: string; Key: string } {
  checkKey(key);
  return { Bucket: bucket.name, Key: bucket.prefix + key };
}

/** Undefined where the bucket answers that there is none. */
export async function findObject(bucket: Bucket, key: string): Promise<HeadObjectCommandOutput | undefined> {
  try {
    return await bucket.client.send(new HeadObjectCommand(placeOf(bucket, key)));
  } catch (error) {
    if (!isS3Error(error, "NotFound", "NoSuchKey")) throw error;
    await requireBucket(bucket);
    return undefined;
  }
}

/** Throws where the bucket is not there: then nothing is known of its objects. */
export async function requireBucket({ client, name }: Bucket): Promise<void> {
  try {
    await client.send(new HeadBucketCommand({ Bucket: name }));
  } catch (error) {
    if (!isS3Error(error, "NotFound", "NoSuchBucket")) throw error;
    throw new BucketUnavailableError("the bucket of the object store is not there", error);
  }
}
