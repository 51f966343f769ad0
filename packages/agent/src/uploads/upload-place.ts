import type { DigestFields, Output, Piece, siteUploads } from "@downlink/protocol";

/** A part as its sender announces it. */
export interface StatedPart extends DigestFields {
  readonly number: number;
  readonly length: number;
}

interface CompletedPart extends DigestFields {
  readonly number: number;
  readonly etag?: string | undefined;
}

export interface Completion {
  readonly parts: readonly CompletedPart[];
  readonly sha256: string;
}

type Uploads = typeof siteUploads;

/** Where the parts of one upload are granted and become the file: the control plane, or a self-hosted site. */
export interface UploadPlace {
  /** Returns the parts that are there already. */
  open(signal: AbortSignal): Promise<Held>;
  grantParts(parts: readonly StatedPart[], signal: AbortSignal): Promise<Output<Uploads["grantParts"]>>;
  grantPieces(
    pieces: { readonly number: number; readonly pieces: readonly Piece[] },
    signal: AbortSignal,
  ): Promise<Output<Uploads["grantPieces"]>>;
  composePart(part: StatedPart, signal: AbortSignal): Promise<Output<Uploads["composePart"]>>;
  complete(completion: Completion, signal: AbortSignal): Promise<void>;
  /** Is called with what sending bytes to a granted target failed with. */
  noteFailure(failure: unknown): void;
  /** Whether one part is worth another try after so many that failed. */
  isWorthRetrying(failure: unknown, attempt: number): boolean;
  waitToRetry(failure: unknown, attempt: number, signal: AbortSignal): Promise<void>;
}

export type Held = Pick<Output<Uploads["open"]>, "isStored" | "parts"> &
  Partial<Pick<Output<Uploads["open"]>, "digest" | "pieces">>;
