import { HeadBucketCommand, HeadObjectCommand, type HeadObjectCommandOutput, S3Client } from "@aws-sdk/client-s3";
import type { BucketCall } from "../buckets/bucket-call.ts";
import { BucketUnavailableError } from "../buckets/bucket-unavailable.ts";
import { checkKey } from "../object-key.ts";
import { readByUndici } from "./read-handler.ts";
import { isS3Error, toStoreError } from "./s3-errors.ts";

interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface BucketOptions {
  readonly bucket: string;
  /** Undefined: the endpoint of AWS for the region. */
  readonly endpoint?: string | undefined;
  readonly region: string;
  /** The beginning of all objects' names; empty, or with a slash at its end. */
  readonly prefix: string;
  /** The bucket's name stands in the path instead of the host name. */
  readonly forcePathStyle: boolean;
  /** Undefined: the SDK finds them in the environment, in files or by the machine's role. */
  readonly credentials?: S3Credentials;
  /** The profile of the SDK's own files whose credentials are used if there are no others. */
  readonly profile?: string | undefined;
  /** Nothing but these commands is ever sent. Undefined: no command is refused. */
  readonly commands?: readonly string[];
  /** How long the bucket may be silent. The default is 60 s. */
  readonly silenceMs?: number;
  /** Objects above this size are written in parts of this size, which are held in memory. The default is 8 MiB. */
  readonly blockBytes?: number;
  /** How often a call is sent that fails temporarily (503, connection lost). The default is 6. */
  readonly attempts?: number;
  /** Is called when a call is over, with all of its attempts; one that reads is over with the head of its answer. */
  readonly onCall?: (call: BucketCall) => void;
}

/** Some calls take long, such as the completion of an upload of thousands of parts, but the bucket sends something meanwhile. */
const SILENCE_MS = 60_000;
const BLOCK_BYTES = 8 * 1024 * 1024;
const CONNECT_MS = 5_000;
const ATTEMPTS = 6;
/** A slow reader keeps its connection. */
const MAX_CONNECTIONS = 512;

/** A bucket, and the place in it where the objects are. */
export interface Bucket extends Disposable {
  readonly client: S3Client;
  readonly name: string;
  readonly prefix: string;
  readonly blockBytes: number;
}

/** The calls reject with what `s3-errors.ts` makes of the answers. */
export function connectBucket(options: BucketOptions): Bucket {
  const client = createClient(options);
  const { onCall = () => {}, commands } = options;
  if (commands) allowOnly(client, commands);
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (call) => {
        const startedMs = performance.now();
        const report = (outcome: BucketCall["outcome"]) =>
          onCall({ verb: verbOf(commandName), outcome, seconds: (performance.now() - startedMs) / 1000 });
        try {
          const answer = await next(call);
          report("done");
          return answer;
        } catch (error) {
          const known = toStoreError(error, String(commandName));
          report(outcomeOf(known));
          throw known;
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

function allowOnly(client: S3Client, commands: readonly string[]): void {
  const refuseOthers = (name: unknown) => {
    if (!commands.includes(String(name))) throw new TypeError(`${name} is not sent to this bucket`);
  };
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (call) => {
        refuseOthers(commandName);
        return next(call);
      },
    { step: "initialize", priority: "high", name: "allowedCommands" },
  );
}

function createClient(options: BucketOptions): S3Client {
  const silenceMs = options.silenceMs ?? SILENCE_MS;
  const client = new S3Client({
    region: options.region,
    forcePathStyle: options.forcePathStyle,
    maxAttempts: options.attempts ?? ATTEMPTS,
    // Many stores do not know the SDK's own checksums; all know Content-MD5.
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
    ...(options.profile !== undefined && { profile: options.profile }),
  });
  const limits = { connectMs: CONNECT_MS, silenceMs, maxConnections: MAX_CONNECTIONS };
  client.config.requestHandler = readByUndici(client.config.requestHandler, limits);
  return client;
}

function verbOf(commandName: unknown): string {
  return String(commandName).replace(/Command$/, "");
}

function outcomeOf(error: unknown): BucketCall["outcome"] {
  if (!(error instanceof Error)) return "failed";
  if (error.name === "AbortError") return "aborted";
  return "$metadata" in error ? "refused" : "failed";
}

/** Returns where the object of a key is. Throws a TypeError for a text that is no key. */
export function placeOf(bucket: Bucket, key: string): { Bucket: string; Key: string } {
  checkKey(key);
  return { Bucket: bucket.name, Key: bucket.prefix + key };
}

/** Returns undefined if the bucket answers that there is no such object. */
export async function findObject(bucket: Bucket, key: string): Promise<HeadObjectCommandOutput | undefined> {
  try {
    return await bucket.client.send(new HeadObjectCommand(placeOf(bucket, key)));
  } catch (error) {
    if (!isS3Error(error, "NotFound", "NoSuchKey")) throw error;
    await requireBucket(bucket);
    return undefined;
  }
}

/** Throws if the bucket does not exist: then nothing is known about its objects. */
export async function requireBucket({ client, name }: Bucket): Promise<void> {
  try {
    await client.send(new HeadBucketCommand({ Bucket: name }));
  } catch (error) {
    if (!isS3Error(error, "NotFound", "NoSuchBucket")) throw error;
    throw new BucketUnavailableError("the bucket of the object store is not there", error);
  }
}
