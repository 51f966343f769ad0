import type { LinkSigner } from "../../../core/signed-link.ts";
import type { BlobStore, PartGrant, PartPlan, PieceGrant, PiecePlan, StoredObject } from "../blob-store.ts";
import type { KeepBeginning } from "../fill-verified.ts";
import { checkKey, etagOf } from "../object-key.ts";
import { grantPart, grantPiece, type PartLinks } from "../part-link.ts";
import { createPartMemory } from "../part-memory.ts";
import type { BucketClient } from "./bucket-client.ts";
import { getNote, listNotes, putNote, removeNote } from "./bucket-notes.ts";
import { receivePart } from "./bucket-parts.ts";
import { checkPiecesGrantable, composePart, listPieces, receivePiece } from "./bucket-pieces.ts";
import { BucketUnavailableError } from "./bucket-unavailable.ts";
import {
  abortUpload,
  type BucketUploads,
  checkGrantable,
  completeUpload,
  createUpload,
  listParts,
} from "./bucket-uploads.ts";
import { listBucket } from "./list-bucket.ts";
import type { UploadRecords } from "./upload-records.ts";

const NS_PER_MS = 1_000_000n;
const HOUR_MS = 60 * 60 * 1000;
const PART_MEMORY_BYTES = 256 * 1024 * 1024;

export interface BucketStoreOptions {
  readonly records: UploadRecords;
  readonly signer: LinkSigner;
  /** Returns the URL with which links for parts begin, without a slash at the end. */
  readonly publicUrl: () => string;
  readonly clock: { nowNs(): bigint };
}

/** Targets in the bucket itself, for senders that reach it. */
export interface DirectTargets {
  /** Says whether a part or piece with this digest may go to the bucket itself. */
  takes(sent: { readonly digest: string }): boolean;
  grantPart(key: string, part: PartPlan): Promise<PartGrant>;
  grantPiece(key: string, piece: PiecePlan): Promise<PieceGrant>;
}

/** A store that can receive parts through the control plane's own route. */
export type ReceivingStore = BlobStore & Required<Pick<BlobStore, "receivePart" | "receivePiece">>;

interface Opening extends Pick<BucketUploads, "recordArrived"> {
  readonly bucket: BucketClient;
  /** Undefined: all parts come through this process. */
  readonly direct?: DirectTargets;
}

/** Opens a store of objects in a bucket. Several processes may share the bucket and the records of open uploads. */
export function openBucketStore({ bucket, direct, ...own }: Opening, options: BucketStoreOptions): ReceivingStore {
  const { records } = options;
  const { objects } = bucket;
  const uploads = { bucket, records, memory: createPartMemory(PART_MEMORY_BYTES), ...own };
  return {
    put: (key, body, putOptions = {}) => bucket.putStream(requireKey(key), body, putOptions),
    open: (key, openOptions) => bucket.open(requireKey(key), openOptions),
    stat: (key) => statObject(bucket, requireKey(key)),
    async delete(key) {
      await objects.remove(requireKey(key));
      await abortUpload(uploads, key);
    },
    createUpload: (key, plan) => createUpload(uploads, requireKey(key), plan),
    listParts: (key) => listParts(uploads, key),
    async grantParts(key, parts) {
      await checkGrantable(records, key, parts);
      const grant = async (part: PartPlan) =>
        direct?.takes(part) ? direct.grantPart(key, part) : grantPart(linksOf(options), key, part);
      return await Promise.all(parts.map(grant));
    },
    completeUpload: (key, parts) => completeUpload(uploads, requireKey(key), parts),
    abortUpload: (key) => abortUpload(uploads, requireKey(key)),
    receivePart(key, part, body) {
      const keep: KeepBeginning = (piece, came) => receivePiece(uploads, key, { piece, body: came });
      return receivePart(uploads, key, { part, body, keep });
    },
    listPieces: (key, partNumber) => listPieces(uploads, key, partNumber),
    async grantPieces(key, pieces) {
      await checkPiecesGrantable(records, key, pieces);
      const grant = async (piece: PiecePlan) =>
        direct?.takes(piece) ? direct.grantPiece(key, piece) : grantPiece(linksOf(options), key, piece);
      return await Promise.all(pieces.map(grant));
    },
    composePart: (key, part) => composePart(uploads, key, part),
    receivePiece: (key, piece, body) => receivePiece(uploads, key, { piece, body }),
    check: () => checkBucket(bucket),
    list: (prefix) => listBucket(bucket, prefix),
    putNote: (key, bytes) => putNote(objects, key, bytes),
    getNote: (key) => getNote(objects, key),
    listNotes: (prefix) => listNotes(objects, prefix),
    removeNote: (key) => removeNote(objects, key),
  };
}

function requireKey(key: string): string {
  checkKey(key);
  return key;
}

function linksOf({ signer, publicUrl, clock }: BucketStoreOptions): PartLinks {
  return { signer, publicUrl: publicUrl(), expiresAtMs: Number(clock.nowNs() / NS_PER_MS) + HOUR_MS };
}

async function statObject({ objects }: BucketClient, key: string): Promise<StoredObject | undefined> {
  const found = await objects.find(key);
  return found && { ...found, etag: etagOf(key) };
}

async function checkBucket(bucket: BucketClient): Promise<string | undefined> {
  try {
    await bucket.require();
    return undefined;
  } catch (error) {
    if (error instanceof BucketUnavailableError) return error.message;
    throw error;
  }
}
