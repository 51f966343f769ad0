import { ApiCallError } from "@downlink/client";
import { algorithmOf, digestOf, type Piece, toDigestFields } from "@downlink/protocol";
import { checkUnmoved } from "../files/open-tracked.ts";
import { type OpenUpload, PartMismatchError } from "./open-upload.ts";
import { putRange } from "./put-range.ts";
import { hashRange, type Part } from "./upload-parts.ts";

export interface PartToSend {
  readonly part: Part;
  readonly digest: string;
  readonly signal: AbortSignal;
}

/** The pieces of one part that the cloud holds. It outlives a failed try. */
export interface PieceProgress {
  heldBytes(): number;
  /** The pieces that the cloud says it holds, while they were not compared with the file; undefined where there are none. */
  heldByCloud: readonly Piece[] | undefined;
  /** Notes that the cloud holds these pieces, and that they are the file's. */
  note(held: readonly Piece[]): void;
  held(): readonly Piece[];
  /** Whether all pieces arrived and were not the part: the file changed while it was read, and its times do not show it. */
  isRefuted(): boolean;
  refute(): void;
}

/** Less than this share of a part is sent again rather than composed, because composing costs the cloud a copy of the part. */
const WORTH_KEEPING = 16;
/** How many targets are asked for at once, so that not every piece costs another round trip. */
const PIECES_AHEAD = 4;

export function beginPieces({ job, pieces }: OpenUpload, { number }: Part): PieceProgress {
  let held: readonly Piece[] = [];
  let isRefuted = false;
  const heldByCloud = pieces?.held.filter((piece) => piece.number === number);
  return {
    heldByCloud: heldByCloud && heldByCloud.length > 0 ? heldByCloud : undefined,
    heldBytes: () => endOf(held),
    held: () => held,
    note(now) {
      held = now;
    },
    isRefuted: () => isRefuted,
    refute() {
      job.meter.skip(-endOf(held));
      held = [];
      isRefuted = true;
    },
  };
}

/** Pieces are better on a slow link, and wherever the cloud holds so much that sending the part again would cost more. */
function isBetterInPieces({ job, pieces }: OpenUpload, part: Part, progress: PieceProgress): boolean {
  if (!pieces) return false;
  return progress.heldBytes() * WORTH_KEEPING > part.length || job.throttle.pieceSizes.mostBytes() < part.length;
}

/**
 * Sends what the cloud does not hold, piece after piece, and lets the cloud compose the part. A piece that arrived stays, whatever
 * comes after. Returns "whole" where the part should rather go whole.
 */
export async function sendPieces(
  upload: OpenUpload,
  toSend: PartToSend,
  progress: PieceProgress,
): Promise<"whole" | { readonly etag?: string }> {
  const { part, signal } = toSend;
  using _sending = upload.job.throttle.linkSpeed.sending();
  if (progress.heldByCloud) await adopt(upload, { part, held: progress.heldByCloud, progress });
  while (progress.heldBytes() < part.length) {
    if (!isBetterInPieces(upload, part, progress)) {
      await adopt(upload, { part, held: [], progress });
      return "whole";
    }
    await sendNext(upload, { part, progress, signal });
  }
  return await compose(upload, toSend, progress);
}

async function compose(
  upload: OpenUpload,
  { part, digest, signal }: PartToSend,
  progress: PieceProgress,
): Promise<{ readonly etag?: string }> {
  const { number, length } = part;
  try {
    return await upload.place.composePart({ number, length, ...toDigestFields(digest) }, signal);
  } catch (failure) {
    if (failure instanceof ApiCallError && failure.code === "DigestMismatch") progress.refute();
    // The cloud forgot them: the answer to the next request for targets says what it holds.
    if (failure instanceof ApiCallError && failure.code === "PartsMissing")
      await adopt(upload, { part, held: [], progress });
    throw failure;
  }
}

interface Sending {
  readonly part: Part;
  readonly progress: PieceProgress;
  readonly signal: AbortSignal;
}

/** Sends as many pieces as there are targets, while their size suits the link. */
async function sendNext(upload: OpenUpload, { part, progress, signal }: Sending): Promise<void> {
  const { job, source, place, uploadId } = upload;
  const { file, storage } = job;
  const { number } = part;
  const planned = await planPieces(upload, part, progress.heldBytes());
  const { held, grants } = await place.grantPieces({ number, pieces: planned }, signal);
  // The cloud may hold more, where an answer was late. Where it holds less than it acknowledged, the next try comes after a rest.
  if (endOf(held) > progress.heldBytes()) return await adopt(upload, { part, held, progress });
  if (endOf(held) < progress.heldBytes()) throw new TypeError(`the control plane lost pieces of part ${number}`);
  for (const [index, piece] of planned.entries()) {
    const target = grants.find(({ offset }) => offset === piece.offset);
    if (!target) throw new TypeError(`the control plane granted no target for byte ${piece.offset} of part ${number}`);
    if (index > 0 && !isStillRight(piece.length, job.throttle.pieceSizes.mostBytes())) return;
    await checkUnmoved(storage, { source, path: file.path, identity: file.identity });
    const call = { what: "piece", uploadId, number, offset: piece.offset } as const;
    await putRange(upload, { range: within(part, piece), target, call, signal });
    progress.note([...progress.held(), piece]);
  }
}

async function planPieces(
  { job, source, digest, pieces }: OpenUpload,
  part: Part,
  heldBytes: number,
): Promise<Piece[]> {
  const most = Math.max(pieces?.minBytes ?? 1, job.throttle.pieceSizes.mostBytes());
  const planned: Piece[] = [];
  for (let offset = heldBytes; offset < part.length && planned.length < PIECES_AHEAD; ) {
    const range = { offset, length: Math.min(most, part.length - offset) };
    planned.push({ ...range, ...toDigestFields(await hashRange(source, within(part, range), digest)) });
    offset += range.length;
  }
  return planned;
}

/** Continues with what the cloud holds only where the file still has these bytes: nothing that changed meanwhile gets mixed. */
async function adopt(
  { job, source }: OpenUpload,
  { part, held, progress }: { part: Part; held: readonly Piece[]; progress: PieceProgress },
): Promise<void> {
  for (const [index, piece] of held.entries()) {
    const isNext = piece.offset === endOf(held.slice(0, index)) && piece.offset + piece.length <= part.length;
    if (!isNext) throw new TypeError(`the control plane lists pieces of part ${part.number} that do not add up to it`);
    const digest = digestOf(piece);
    if ((await hashRange(source, within(part, piece), algorithmOf(digest))) !== digest)
      throw new PartMismatchError(job.file.path, part.number);
  }
  job.meter.skip(endOf(held) - progress.heldBytes());
  progress.note(held);
  progress.heldByCloud = undefined;
}

function isStillRight(length: number, mostBytes: number): boolean {
  return length <= 2 * mostBytes && 2 * length >= mostBytes;
}

function within(part: Part, { offset, length }: Pick<Piece, "offset" | "length">) {
  return { offset: part.offset + offset, length };
}

function endOf(held: readonly Piece[]): number {
  const last = held.at(-1);
  return last ? last.offset + last.length : 0;
}
