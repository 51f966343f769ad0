import { type FileHandle, open } from "node:fs/promises";
import { basename } from "node:path";
import { ApiCallError } from "@downlink/client";
import { api, type CallInput, type PartUpload } from "@downlink/protocol";
import { RefusedError } from "../failures/failures.ts";
import type { Service } from "../login/open-service.ts";
import type { KeptUploads } from "./kept-uploads.ts";
import { hashRange, type Range } from "./read-range.ts";
import { insist, sendPart } from "./send-part.ts";

const { partUploads } = api;

/** Where the files belong, as the flags say it. */
export type Belonging = Omit<CallInput<typeof partUploads.create>, "filename" | "size" | "sha256">;

export interface Uploading {
  readonly belonging: Belonging;
  /** Remembers what was begun, so that another call goes on with it. */
  readonly kept: KeptUploads;
  /** Called with the number of bytes that were sent since the last call. */
  readonly onSent: (bytes: number) => void;
}

/** The import request of a file that was sent, or the recording that had its content before. */
export type Uploaded = { readonly requestId: string } | { readonly existingRecordingId: string };

const PARTS_AT_ONCE = 3;

/**
 * Sends a file in parts, of which none is sent again once it is stored, also by a later call, and of a part that broke off only what did
 * not arrive. Throws {@link RefusedError} for a file that is empty or is changed meanwhile, and what the service and the disk refuse.
 */
export async function uploadFile(service: Service, path: string, uploading: Uploading): Promise<Uploaded> {
  await using file = await open(path, "r");
  const { size } = await file.stat();
  if (size === 0) throw new RefusedError(`${path} is empty`);
  const whole = { start: 0, length: size };
  const sha256 = await hashRange(file, whole, { algorithm: "sha256", encoding: "hex", signal: service.signal });
  const begun = await beginOrGoOn(service, { ...uploading, filename: basename(path), size, sha256 });
  if ("existingRecordingId" in begun) return begun;
  if (!begun.isStored) await sendParts(service, file, { ...uploading, upload: begun });
  const { requestId } = begun;
  await insist(service.signal, () => service.client.call(partUploads.complete, { requestId, sha256 }));
  uploading.kept.forget(sha256);
  return { requestId };
}

interface Beginning extends Uploading {
  readonly filename: string;
  readonly size: number;
  readonly sha256: string;
}

async function beginOrGoOn(
  { client }: Service,
  { kept, belonging, filename, size, sha256 }: Beginning,
): Promise<PartUpload | { existingRecordingId: string }> {
  const requestId = kept.find(sha256);
  const earlier = requestId && (await client.call(partUploads.get, { requestId }).catch(ifGone));
  if (earlier) return earlier;
  const { upload, existingRecordingId } = await client.call(partUploads.create, {
    ...belonging,
    filename,
    size,
    sha256,
  });
  if (upload) kept.keep(sha256, upload.requestId);
  return upload ?? { existingRecordingId: existingRecordingId! };
}

/** An upload that has ended is begun again. */
function ifGone(error: unknown): undefined {
  if (error instanceof ApiCallError && error.status === 404) return undefined;
  throw error;
}

interface Sending extends Pick<Uploading, "onSent"> {
  readonly upload: PartUpload;
}

async function sendParts(service: Service, file: FileHandle, { upload, onSent }: Sending): Promise<void> {
  const stopping = new AbortController();
  const signal = AbortSignal.any([service.signal, stopping.signal]);
  const numbers = Array.from({ length: Math.ceil(upload.size / upload.partSize) }, (_, at) => at + 1).values();
  const held = new Map(upload.parts.map(({ number, ...digests }) => [number, digests]));
  const way = { losesParts: false };
  const work = async () => {
    for (const number of numbers) {
      const range = rangeOf(upload, number);
      const digest = await hashRange(file, range, { algorithm: upload.digest, encoding: "base64", signal });
      const known = held.get(number)?.[upload.digest];
      if (known !== undefined && known !== digest)
        throw new RefusedError(
          "the file was changed since a part of it was sent; give it another name, or upload it from the start",
        );
      if (known === undefined) await sendPart({ ...service, signal }, file, { upload, number, range, digest, way });
      onSent(range.length);
    }
  };
  const workers = Array.from({ length: PARTS_AT_ONCE }, () => work().catch((error) => stopping.abort(error)));
  await Promise.all(workers);
  signal.throwIfAborted();
}

function rangeOf({ size, partSize }: PartUpload, number: number): Range {
  const start = (number - 1) * partSize;
  return { start, length: Math.min(partSize, size - start) };
}
