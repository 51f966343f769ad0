import {
  api,
  type DigestAlgorithm,
  type DigestFields,
  digestOf,
  type Output,
  toDigestFields,
} from "@downlink/protocol";
import { checkUnmoved, openTracked } from "../files/open-tracked.ts";
import { createCloudPlace } from "./cloud-place.ts";
import { type OpenUpload, PartMismatchError, type UploadJob } from "./open-upload.ts";
import { type SentPart, sendPart } from "./send-part.ts";
import { createSitePlace } from "./site-place.ts";
import { createPartHashes, type Part, type PartHashes, partsOf } from "./upload-parts.ts";
import type { Held, UploadPlace } from "./upload-place.ts";

/**
 * Delivers one version of a file, and begins where an earlier try ended. The version is checked before each part and before the
 * end, so that no bytes of another version can get in between. `classifyFailure` says what an error means.
 */
export async function uploadFile(job: UploadJob): Promise<void> {
  const { tracing, requestId, file } = job;
  const attributes = { "downlink.import_request": requestId, "downlink.size_bytes": file.identity.sizeBytes };
  await tracing.inSpan({ name: "upload", kind: "internal", attributes }, () => deliver(job));
}

async function deliver(job: UploadJob): Promise<void> {
  const { storage, file } = job;
  const { path, identity } = file;
  await using source = await openTracked(storage, path, identity);
  const opened = await open(job);
  if (opened.isStored) return;
  const place = placeOf(job, opened);
  const held = await place.open(job.signal);
  if (held.isStored) return;
  const { digest = "md5", pieces } = held;
  const { uploadId, partSize } = opened;
  await send({ job, source, place, uploadId, digest, pieces }, { partSize, held: held.parts });
}

interface Sending {
  readonly partSize: number;
  readonly held: Held["parts"];
}

async function send(upload: OpenUpload, { partSize, held }: Sending): Promise<void> {
  const { job, source, place, digest } = upload;
  const { storage, file, signal } = job;
  const { path, identity } = file;
  const showsChanges = await job.showsChanges();
  if (!showsChanges) job.forgetHashes();
  const hashes = job.hashesFor({ partSize, digest });
  const parts = partsOf(identity.sizeBytes, partSize);
  const durable = new Map(held.map((part) => [part.number, part]));
  await verifyDurable(upload, { parts, durable, hashes });
  const sent = await sendParts(upload, { parts, durable, hashes });
  if (!showsChanges) await compareAgain(upload, parts, sent);
  await checkUnmoved(storage, { source, path, identity });
  const sha256 = hashes.sha256();
  job.onHashed({ sha256, begunNs: hashes.begunNs });
  const withDigests = sent.map(({ digest: ofPart, ...part }) => ({ ...part, ...toDigestFields(ofPart) }));
  await place.complete({ parts: withDigests, sha256 }, signal);
}

type Opened = Output<typeof api.edge.openUpload>;

/** The bytes go where the control plane says. */
function placeOf(job: UploadJob, opened: Opened): UploadPlace {
  const { session, transport, sites, requestId } = job;
  const { uploadId, site } = opened;
  if (!site) return createCloudPlace({ session, requestId, opened });
  sites.enter(requestId, site);
  const renew = (signal: AbortSignal) => session.call(api.edge.openUpload, factsOf(job), { signal });
  return createSitePlace({ transport, sites, uploadId, site, renew });
}

/** The kinds of digest that the agent can send. */
const DIGESTS: DigestAlgorithm[] = ["sha256", "md5"];

/** Where a rewrite during the upload would not show, only a second reading proves that there was none. */
async function compareAgain(
  { job, source, digest }: OpenUpload,
  parts: readonly Part[],
  sent: readonly SentPart[],
): Promise<void> {
  const hashes = createPartHashes(0n, digest);
  for (const [index, part] of parts.entries()) {
    job.signal.throwIfAborted();
    if ((await hashes.digestOf(source, part)) !== sent[index]?.digest)
      throw new PartMismatchError(job.file.path, part.number);
  }
}

/**
 * Opens the upload. The hash of the whole file is sent along where it is known, and is made only where the cloud says that it may
 * have the content already: then one slow read may save the whole transfer. When the cloud knows the hash, it ends the request,
 * and the call fails.
 */
async function open(job: UploadJob): Promise<Opened> {
  const { session, signal, knownSha256 } = job;
  const facts = factsOf(job);
  const opened = await session.call(api.edge.openUpload, { ...facts, sha256: knownSha256 }, { signal });
  if (!opened.wantsSha256 || opened.isStored) return opened;
  const sha256 = await job.hashWhole(signal);
  return await session.call(api.edge.openUpload, { ...facts, sha256 }, { signal });
}

function factsOf({ throttle, requestId, file: { versionId, identity } }: UploadJob) {
  const version = { requestId, versionId, size: identity.sizeBytes, modifiedAt: identity.mtimeNs };
  return { ...version, partSize: throttle.wantedPartBytes(), digests: DIGESTS, takesSites: true };
}

interface PartPlan {
  readonly parts: readonly Part[];
  readonly durable: ReadonlyMap<number, DigestFields & { readonly length: number }>;
  readonly hashes: PartHashes;
}

/**
 * Checks before anything is sent that every durable part has the bytes of the file as it is now. A part that differs comes from
 * other bytes, which must not be mixed with these.
 */
async function verifyDurable({ job, source }: OpenUpload, { parts, durable, hashes }: PartPlan): Promise<void> {
  const { storage, file, signal } = job;
  const { path, identity } = file;
  const last = parts.findLastIndex(({ number }) => durable.has(number));
  for (const part of parts.slice(0, last + 1)) {
    signal.throwIfAborted();
    await checkUnmoved(storage, { source, path, identity });
    const digest = await hashes.digestOf(source, part);
    const stored = durable.get(part.number);
    if (stored && (digestOf(stored) !== digest || stored.length !== part.length))
      throw new PartMismatchError(path, part.number);
  }
}

/**
 * Sends the parts that are not durable, a few at a time, and hashes the next one meanwhile. The first failure that retries do not
 * mend stops the other parts.
 */
async function sendParts(upload: OpenUpload, { parts, durable, hashes }: PartPlan): Promise<SentPart[]> {
  const { storage, file, meter, signal } = upload.job;
  const { path, identity } = file;
  const stop = new AbortController();
  const partSignal = AbortSignal.any([signal, stop.signal]);
  const inFlight = new Set<Promise<unknown>>();
  const sent: Promise<SentPart>[] = [];
  try {
    for (const part of parts) {
      partSignal.throwIfAborted();
      await checkUnmoved(storage, { source: upload.source, path, identity });
      const digest = await hashes.digestOf(upload.source, part);
      if (durable.has(part.number)) {
        meter.skip(part.length);
        sent.push(Promise.resolve({ number: part.number, digest }));
        continue;
      }
      while (inFlight.size >= mostInFlight(upload)) await untilRoom(upload, inFlight);
      partSignal.throwIfAborted();
      const sending = sendPart(upload, { part, digest, signal: partSignal });
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

/** Where the cloud takes pieces, an unknown link gets only one request at a time. */
function mostInFlight({ job: { throttle }, pieces }: OpenUpload): number {
  return pieces && throttle.pieceSizes.isOneAtATime() ? 1 : throttle.partsInFlight();
}

async function untilRoom({ job: { throttle } }: OpenUpload, inFlight: ReadonlySet<Promise<unknown>>): Promise<void> {
  const { pieceSizes } = throttle;
  await Promise.race([...inFlight, ...(pieceSizes.isOneAtATime() ? [pieceSizes.untilManyAtATime()] : [])]);
}
