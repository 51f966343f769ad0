import { type CallInput, IDEMPOTENCY_HEADER, type PartUpload, partUploads } from "@downlink/protocol";
import { client } from "../api/client.ts";
import { explainFailure } from "../api/failure.ts";
import { insist } from "./insist.ts";
import { type Hasher, openHasher } from "./open-hasher.ts";
import { createPartSender } from "./send-part.ts";
import type { UploadEvent } from "./upload-state.ts";

const PARTS_AT_ONCE = 3;

export interface Wanted {
  readonly file: File;
  readonly belonging: Pick<CallInput<typeof partUploads.create>, "projectId" | "deviceName" | "sessionKey">;
  /** Is it known already, the file is not hashed once more. */
  readonly sha256: string | undefined;
}

export interface Sending {
  readonly signal: AbortSignal;
  readonly report: (event: UploadEvent) => void;
  /** Is called with the SHA-256 of the file. Returns the upload with which it goes on. Throws if the file is not the wanted one. */
  readonly onHashed: (sha256: string) => string | undefined;
  /** Is called once the upload has begun, before its first byte. */
  readonly onBegun: (requestId: string) => Promise<void>;
}

/**
 * Sends a file in parts, of which none is sent again once it is stored, also by a later call, and of a part that broke off only what did not
 * arrive. Returns undefined where its content was here.
 */
export async function sendFile(wanted: Wanted, sending: Sending): Promise<{ requestId: string } | undefined> {
  const { signal, report } = sending;
  using hasher = openHasher(signal);
  const sha256 = wanted.sha256 ?? (await hashWhole(hasher, wanted.file, report));
  const insisting = { signal, onBreak: (isSignedOut: boolean) => report({ type: "break", isSignedOut }) };
  const upload = await begin(wanted, sha256, { ...sending, ...insisting });
  if ("existingRecordingId" in upload) {
    report({ type: "exist", recordingId: upload.existingRecordingId });
    return undefined;
  }
  const { requestId } = upload;
  await sending.onBegun(requestId);
  if (!upload.isStored) await sendParts(upload, { file: wanted.file, hasher, ...sending, ...insisting });
  await insist(() => client.call(partUploads.complete, { requestId, sha256 }, { signal }), insisting);
  return { requestId };
}

async function hashWhole(hasher: Hasher, file: File, report: Sending["report"]): Promise<string> {
  report({ type: "check", bytes: 0 });
  const digest = await hasher.hash(file, (bytes) => report({ type: "check", bytes }));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

type Insisting = Parameters<typeof insist>[1];

/** Goes on with an upload, or begins one: an upload that has ended is begun again. A repeat of the call makes nothing more. */
async function begin(
  { file, belonging }: Wanted,
  sha256: string,
  { onHashed, signal, onBreak }: Sending & Insisting,
): Promise<PartUpload | { existingRecordingId: string }> {
  const insisting = { signal, onBreak };
  const earlierId = onHashed(sha256);
  const earlier = earlierId && (await insist(() => findUpload(earlierId, signal), insisting));
  if (earlier) return earlier;
  const headers = { [IDEMPOTENCY_HEADER]: randomKey() };
  const body = { ...belonging, filename: file.name, size: file.size, sha256 };
  const create = () => client.call(partUploads.create, body, { signal, headers });
  const { upload, existingRecordingId } = await insist(create, insisting);
  return upload ?? { existingRecordingId: existingRecordingId! };
}

/** Returns undefined for an upload that has ended, or is not the user's. */
async function findUpload(requestId: string, signal: AbortSignal): Promise<PartUpload | undefined> {
  try {
    return await client.call(partUploads.get, { requestId }, { signal });
  } catch (error) {
    if (explainFailure(error).kind === "missing") return undefined;
    throw error;
  }
}

function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

interface SendingParts extends Omit<Sending, "onHashed" | "onBegun">, Insisting {
  readonly file: File;
  readonly hasher: Hasher;
}

/** Parts that are stored are left out: what the service has is bound to the SHA-256 of the file, and checked against it at the end. */
async function sendParts(
  upload: PartUpload,
  { signal, report, file, hasher, ...sending }: SendingParts,
): Promise<void> {
  const stopping = new AbortController();
  const either = AbortSignal.any([signal, stopping.signal]);
  const sentBytes = new Map(upload.parts.map(({ number, length }) => [number, length]));
  let bytesInAll = upload.parts.reduce((sum, { length }) => sum + length, 0);
  const count = (number: number, bytes: number) => {
    bytesInAll += bytes - (sentBytes.get(number) ?? 0);
    sentBytes.set(number, bytes);
  };
  const onSent = (number: number, bytes: number) => {
    count(number, bytes);
    report({ type: "send", bytes: bytesInAll });
  };
  const missing = partsOf(upload)
    .filter(({ number }) => !sentBytes.has(number))
    .values();
  if (upload.parts.length > 0) onSent(upload.parts[0]!.number, upload.parts[0]!.length);
  // A browser sends a request again, from the start and unseen, that broke off on a connection which it had used before.
  const way = { losesParts: false };
  const onBreak = (isSignedOut: boolean) => {
    way.losesParts ||= !isSignedOut;
    sending.onBreak(isSignedOut);
  };
  const work = async () => {
    for (const { number, start, length } of missing) {
      const blob = file.slice(start, start + length);
      const part = { number, blob, way };
      const send = createPartSender(upload, part, { hasher, signal: either, onSent: (bytes) => onSent(number, bytes) });
      const act = () => {
        count(number, 0);
        return send();
      };
      await insist(act, { signal: either, onBreak });
      onSent(number, length);
    }
  };
  const workers = Array.from({ length: PARTS_AT_ONCE }, () => work().catch((error) => stopping.abort(error)));
  await Promise.all(workers);
  either.throwIfAborted();
}

/** Each part has the same length, and the last one the rest. */
function partsOf({ size, partSize }: PartUpload) {
  return Array.from({ length: Math.ceil(size / partSize) }, (_, at) => {
    return { number: at + 1, start: at * partSize, length: Math.min(partSize, size - at * partSize) };
  });
}
