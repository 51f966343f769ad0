import {
  type BlockBlobClient,
  ContainerClient,
  newPipeline,
  type StoragePipelineOptions,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import type { BucketCall } from "../buckets/bucket-call.ts";
import { BucketUnavailableError } from "../buckets/bucket-unavailable.ts";
import { type AzureVerb, toStoreError } from "./azure-errors.ts";
import { type AzureCredential, findCredential } from "./credential.ts";
import { checkSentBlobs, refuseWrites } from "./request-policies.ts";
import { openUndiciClient } from "./undici-client.ts";

export interface ContainerOptions {
  readonly account: string;
  readonly container: string;
  /** The address of the account's blobs. Undefined: that in Azure's public cloud. */
  readonly endpoint?: string | undefined;
  /** The beginning of all blobs' names; empty, or with a slash at its end. */
  readonly prefix: string;
  /** Undefined: it is found in the environment. */
  readonly credential?: AzureCredential;
  /** Nothing is sent that could change something in the container. */
  readonly isReadOnly?: boolean;
  /** How long the service may be silent. The default is 60 s. */
  readonly silenceMs?: number;
  /** Objects above this size are written in blocks of this size, which are held in memory. The default is 8 MiB. */
  readonly blockBytes?: number;
  /** How often a call is sent that fails temporarily (503, connection lost). The default is 6. */
  readonly attempts?: number;
  /** Is called when a call is over, with all of its attempts; one that reads is over with the head of its answer. */
  readonly onCall?: (call: BucketCall) => void;
}

const SILENCE_MS = 60_000;
const BLOCK_BYTES = 8 * 1024 * 1024;
const CONNECT_MS = 5_000;
const ATTEMPTS = 6;
/** The second attempt comes at once; between the others these are 1, 3, 7 … of this. */
const RETRY_MS = 300;
const MOST_RETRY_MS = 10_000;
/** A slow reader keeps its connection. */
const MAX_CONNECTIONS = 512;

/** A container of block blobs, and the place in it where the objects are. */
export interface Container extends Disposable {
  readonly client: ContainerClient;
  readonly credential: AzureCredential;
  readonly account: string;
  readonly prefix: string;
  readonly blockBytes: number;
  /** Returns the blob of a name. */
  blob(name: string): BlockBlobClient;
  /** Makes one call; it rejects with what `azure-errors.ts` makes of the answer. */
  call<T>(verb: AzureVerb, act: () => Promise<T>): Promise<T>;
}

export function connectContainer(options: ContainerOptions): Container {
  const { account, prefix, onCall = () => {} } = options;
  const credential = options.credential ?? requireCredential();
  const silenceMs = options.silenceMs ?? SILENCE_MS;
  const http = openUndiciClient({ connectMs: CONNECT_MS, silenceMs, maxConnections: MAX_CONNECTIONS });
  const client = createClient(options, credential, {
    httpClient: http,
    retryOptions: {
      maxTries: options.attempts ?? ATTEMPTS,
      retryDelayInMs: RETRY_MS,
      maxRetryDelayInMs: MOST_RETRY_MS,
    },
  });
  return {
    ...{ client, credential, account, prefix, blockBytes: options.blockBytes ?? BLOCK_BYTES },
    blob: (name) => client.getBlockBlobClient(prefix + name),
    call: (verb, act) => observeCall(verb, act, onCall),
    [Symbol.dispose]: () => http[Symbol.dispose](),
  };
}

function requireCredential(): AzureCredential {
  try {
    return findCredential();
  } catch (error) {
    throw new BucketUnavailableError(`the container cannot be reached: ${(error as Error).message}`, error);
  }
}

/** Where the account's blobs are. */
function endpointOf({ account, endpoint }: Pick<ContainerOptions, "account" | "endpoint">): string {
  return endpoint?.replace(/\/+$/, "") ?? `https://${account}.blob.core.windows.net`;
}

function createClient(
  options: ContainerOptions,
  credential: AzureCredential,
  pipelineOptions: StoragePipelineOptions,
): ContainerClient {
  const url = `${endpointOf(options)}/${options.container}`;
  const isKey = "accountKey" in credential;
  const pipeline = newPipeline(
    isKey ? new StorageSharedKeyCredential(options.account, credential.accountKey) : undefined,
    pipelineOptions,
  );
  pipeline.factories.push(options.isReadOnly ? refuseWrites : checkSentBlobs);
  return new ContainerClient(isKey ? url : `${url}?${credential.sasToken}`, pipeline);
}

async function observeCall<T>(verb: AzureVerb, act: () => Promise<T>, onCall: (call: BucketCall) => void): Promise<T> {
  const startedMs = performance.now();
  const report = (outcome: BucketCall["outcome"]) =>
    onCall({ verb, outcome, seconds: (performance.now() - startedMs) / 1000 });
  try {
    const answer = await act();
    report("done");
    return answer;
  } catch (error) {
    const known = toStoreError(error, verb);
    report(outcomeOf(known));
    throw known;
  }
}

function outcomeOf(error: unknown): BucketCall["outcome"] {
  if (!(error instanceof Error)) return "failed";
  if (error.name === "AbortError") return "aborted";
  return "statusCode" in error ? "refused" : "failed";
}
