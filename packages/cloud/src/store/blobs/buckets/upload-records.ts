import type { PartPlan, PiecePlan, UploadPlan } from "../blob-store.ts";

/**
 * The facts that a bucket cannot keep about the uploads that are open in it: the plan, and which bytes a number stands for. All processes
 * that use the bucket share the records. Methods that name an upload throw `UploadClosedError` once it was closed.
 */
export interface UploadRecords {
  find(key: string): Promise<OpenUpload | undefined>;
  /** Records the upload unless one is open under the key; returns the open one. */
  open(upload: OpenUpload): Promise<OpenUpload>;
  /** Forgets the upload, its parts and its pieces. Without `uploadId` it forgets the one that is open under the key. */
  close(key: string, uploadId?: string): Promise<void>;
  /** Lists the parts of these numbers, or all. */
  listTaken(upload: OpenUpload, numbers?: readonly number[]): Promise<PartPlan[]>;
  findTaken(upload: OpenUpload, number: number): Promise<PartPlan | undefined>;
  /** Records which bytes the number stands for unless that is known; returns what it stands for from now on. */
  take(upload: OpenUpload, part: PartPlan): Promise<PartPlan>;
  /** Lists the pieces in the order of numbers and offsets. */
  listPieces(upload: OpenUpload, partNumber?: number): Promise<StoredPiece[]>;
  /**
   * Records the piece if `decide` allows it, given all pieces that are recorded at that moment; no other call can change them meanwhile.
   * Returns whether it did.
   */
  hold(upload: OpenUpload, piece: StoredPiece, decide: (held: readonly StoredPiece[]) => boolean): Promise<boolean>;
  forgetPieces(upload: OpenUpload, partNumber: number): Promise<void>;
}

export interface OpenUpload {
  readonly key: string;
  /** The bucket's id of the upload. */
  readonly uploadId: string;
  readonly plan: UploadPlan;
}

export interface StoredPiece extends PiecePlan {
  /** The last part of its object's key. */
  readonly name: string;
}
