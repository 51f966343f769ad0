import { putStream } from "@downlink/client/node";
import { api, type Output } from "@downlink/protocol";
import type { FileSource } from "@downlink/recordings";
import type { Dispatcher } from "undici";
import type { CloudSession } from "../cloud/session.ts";
import type { FileHash } from "../deleting/hash-file.ts";
import { telling } from "../durable-steps.ts";
import { checkUnmoved, openTracked, type Storage } from "../files/open-tracked.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { isPartWorthRetrying } from "./part-retries.ts";
import type { Throttle } from "./throttle.ts";
import type { TransferMeter } from "./transfers.ts";
import { createPartHashes, type Part, type PartHashes, partsOf, readPart } from "./upload-parts.ts";

export interface UploadJob {
  readonly session: CloudSession;
  readonly dispatcher: Dispatcher;
  readonly throttle: Throttle;
  readonly storage: Storage;
  readonly requestId: string;
  readonly file: TrackedFile;
  /** For a given part size: hashes that an earlier try may have begun. */
  readonly hashesFor: (partSize: number) => PartHashes;
  readonly forgetHashes: () => void;
  /** Whether a rewrite of the file with its times set back would show. */
  readonly showsChanges: () => Promise<boolean>;
  /** Hears of the hash of the whole file before the cloud does. Throws {@link ContentMismatch} for that of another version. */
  readonly onHashed: (hash: FileHash) => void;
  /** Of the file as it is, where it is known. */
  readonly knownSha256: string | undefined;
  /** The same, by reading all of it. */
  readonly hashWhole: (signal: AbortSignal) => Promise<string>;
  readonly meter: TransferMeter;
  /** Hears of each part that came through, with its bytes. */
  readonly onPart: (bytes: number) => void;
  /** Hears of each try of a part that failed. */
  readonly onPartFailed: (failure: unknown) => void;
  readonly signal: AbortSignal;
}

/** The file's bytes are not those that the cloud holds of this version, although nothing else about the file changed. */
export class PartMismatch extends Error {
  constructor(path: string, part: number) {
    super(`${path} differs in part ${part} from what was sent of this version before`);
    this.name = "PartMismatch";
  }
}

/** What was sent is not what was once known to be the content of this version. */
export class ContentMismatch extends Error {
  constructor(path: string) {
    super(`${path} holds another content than that of the version that was asked for`);
    this.name = "ContentMismatch";
  }
}

interface OpenUpload {
  readonly job: UploadJob;
  readonly source: FileSource;
  readonly uploadId: string;
}

const STALL_TIMEOUT_MS = 60_000;

/**
 * Delivers one version of a file, from wherever an earlier try ended. The version is checked before each part and before
 * the end, so that no bytes of another one can get in between. Throws what went wrong; `classifyFailure` says what it means.
 */
export async function uploadFile(job: UploadJob): Promise<void> {
  const { session, storage, requestId, file, signal } = job;
  const { path, identity } = file;
  await using source = await openTracked(storage, path, identity);
  const opened = await open(job);
  if (opened.isStored) return;
  const showsChanges = await job.showsChanges();
  if (!showsChanges) job.forgetHashes();
  const hashes = job.hashesFor(opened.partSize);
  const parts = partsOf(identity.sizeBytes, opened.partSize);
  const durable = new Map(opened.parts.map((part) => [part.number, part]));
  const upload = { job, source, uploadId: opened.uploadId };
  await verifyDurable(upload, { parts, durable, hashes });
  const sent = await sendParts(upload, { parts, durable, hashes });
  if (!showsChanges) await compareAgain(source, { parts, sent, path });
  await checkUnmoved(storage, { source, path, identity });
  const sha256 = hashes.sha256();
  job.onHashed({ sha256, begunNs: hashes.begunNs });
  const completion = { requestId, uploadId: opened.uploadId, parts: sent, sha256 };
  await session.call(api.edge.completeUpload, completion, { signal });
}

/** Where a rewrite in the middle of the upload would not show, only a second reading tells that there was none. */
async function compareAgain(
  source: FileSource,
  { parts, sent, path }: { parts: readonly Part[]; sent: readonly SentPart[]; path: string },
): Promise<void> {
  const hashes = createPartHashes(0n);
  for (const [index, part] of parts.entries())
    if ((await hashes.md5Of(source, part)) !== sent[index]?.md5) throw new PartMismatch(path, part.number);
}

/**
 * The hash of the whole file is sent along where it is known, and made only where the cloud says that it may have the content already: then
 * one slow read may save the whole transfer. With a hash that it knows the cloud ends the request, and the call fails.
 */
async function open(job: UploadJob): Promise<Output<typeof api.edge.openUpload>> {
  const { session, throttle, requestId, file, signal, knownSha256 } = job;
  const { versionId, identity } = file;
  const version = { requestId, versionId, size: identity.sizeBytes, modifiedAt: identity.mtimeNs };
  const facts = { ...version, partSize: throttle.wishedPartBytes() };
  const opened = await session.call(api.edge.openUpload, { ...facts, sha256: knownSha256 }, { signal });
  if (!opened.wantsSha256 || opened.isStored) return opened;
  const sha256 = await job.hashWhole(signal);
  return await session.call(api.edge.openUpload, { ...facts, sha256 }, { signal });
}

interface SentPart {
  readonly number: number;
  readonly md5: string;
  readonly etag?: string;
}

interface PartPlan {
  readonly parts: readonly Part[];
  readonly durable: ReadonlyMap<number, { readonly md5: string; readonly length: number }>;
  readonly hashes: PartHashes;
}

/**
 * Before anything is sent: every part that is durable was read of this file as it is now. One that differs is of other bytes,
 * with which nothing may be mixed.
 */
async function verifyDurable({ job, source }: OpenUpload, { parts, durable, hashes }: PartPlan): Promise<void> {
  const { storage, file, signal } = job;
  const { path, identity } = file;
  const last = parts.findLastIndex(({ number }) => durable.has(number));
  for (const part of parts.slice(0, last + 1)) {
    signal.throwIfAborted();
    await checkUnmoved(storage, { source, path, identity });
    const md5 = await hashes.md5Of(source, part);
    const stored = durable.get(part.number);
    if (stored && (stored.md5 !== md5 || stored.length !== part.length)) throw new PartMismatch(path, part.number);
  }
}

/**
 * Sends what is not durable, a few parts at a time, and hashes the next one meanwhile; the first failure that a part cannot get
 * over stops the others.
 */
async function sendParts(upload: OpenUpload, { parts, durable, hashes }: PartPlan): Promise<SentPart[]> {
  const { storage, file, meter, throttle, signal } = upload.job;
  const { path, identity } = file;
  const stop = new AbortController();
  const partSignal = AbortSignal.any([signal, stop.signal]);
  const inFlight = new Set<Promise<unknown>>();
  const sent: Promise<SentPart>[] = [];
  try {
    for (const part of parts) {
      partSignal.throwIfAborted();
      await checkUnmoved(storage, { source: upload.source, path, identity });
      const md5 = await hashes.md5Of(upload.source, part);
      if (durable.has(part.number)) {
        meter.skip(part.length);
        sent.push(Promise.resolve({ number: part.number, md5 }));
        continue;
      }
      while (inFlight.size >= throttle.partsInFlight()) await Promise.race(inFlight);
      partSignal.throwIfAborted();
      const sending = sendPart(upload, { part, md5, signal: partSignal });
      sent.push(sending);
      inFlight.add(sending);
      sending.then(
        () => inFlight.delete(sending),
        (failure: unknown) => stop.abort(failure),
      );
    }
    return await Promise.all(sent);
  } catch (failure) {
    stop.abort(failure);
    await Promise.allSettled(sent);
    throw failure;
  }
}

async function sendPart(
  upload: OpenUpload,
  { part, md5, signal }: { part: Part; md5: string; signal: AbortSignal },
): Promise<SentPart> {
  const { session, storage, file, onPart, onPartFailed } = upload.job;
  for (let attempt = 1; ; attempt++) {
    await checkUnmoved(storage, { source: upload.source, path: file.path, identity: file.identity });
    try {
      const etag = await putPart(upload, { part, md5, signal });
      onPart(part.length);
      return { number: part.number, md5, etag };
    } catch (failure) {
      signal.throwIfAborted();
      onPartFailed(failure);
      if (!isPartWorthRetrying(failure, attempt)) throw failure;
      await session.waitToRetry(failure, attempt, signal);
      signal.throwIfAborted();
    }
  }
}

/** One try: a grant is short-lived, so each try asks for its own. */
async function putPart(
  { job, source, uploadId }: OpenUpload,
  { part, md5, signal }: { part: Part; md5: string; signal: AbortSignal },
): Promise<string | undefined> {
  const { number, length } = part;
  const asked = { requestId: job.requestId, uploadId, parts: [{ number, md5, length }] };
  const { grants } = await job.session.call(api.edge.grantParts, asked, { signal });
  const grant = grants.find((candidate) => candidate.number === number);
  if (!grant) throw new TypeError(`the control plane granted no target for part ${number}`);
  let handedOver = 0;
  const { limiter, linkSpeed } = job.throttle;
  using _sending = linkSpeed.sending();
  try {
    const put = () =>
      putStream(grant.url, {
        body: limiter.pace(readPart(source, part), signal),
        length,
        headers: grant.headers,
        signal,
        stallTimeoutMs: STALL_TIMEOUT_MS,
        dispatcher: job.dispatcher,
        onProgress(bytes) {
          handedOver += bytes;
          job.meter.add(bytes);
          linkSpeed.note(bytes);
        },
      });
    const { headers } = await telling.tracePromise(put, { what: "part", uploadId, number });
    return headers.get("etag");
  } catch (failure) {
    job.meter.add(-handedOver);
    throw failure;
  }
}
