import { ApiFailure } from "@downlink/client";
import { algorithmOf, api, digestOf, type Piece, toDigestFields } from "@downlink/protocol";
import { checkUnmoved } from "../files/open-tracked.ts";
import { type OpenUpload, PartMismatchError } from "./open-upload.ts";
import { putRange } from "./put-range.ts";
import { hashRange, type Part } from "./upload-parts.ts";

export interface PartToSend {
  readonly part: Part;
  readonly digest: string;
  readonly signal: AbortSignal;
}

/** What the cloud holds of one part; outlives a failed try. */
export interface PieceProgress {
  heldBytes(): number;
  /** What the cloud says that it holds, while nobody compared it with the file; undefined where that is nothing. */
  heldByCloud: readonly Piece[] | undefined;
  /** Says that the cloud holds these, which are the file's. */
  note(held: readonly Piece[]): void;
  held(): readonly Piece[];
  /** All pieces were there, and were not the part: the file changed while it was read, and it does not show. */
  isRefuted(): boolean;
  refute(): void;
}

/** Less than this share of a part is sent again rather than put together: that costs the far side a copy of the part. */
const WORTH_KEEPING = 16;
/** Asked for at once, so that not each piece costs a way there and back more. */
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

/** On a slow link, and wherever the cloud holds more of the part than it would cost a quick one to send it again. */
function isBetterInPieces({ job, pieces }: OpenUpload, part: Part, progress: PieceProgress): boolean {
  if (!pieces) return false;
  return progress.heldBytes() * WORTH_KEEPING > part.length || job.throttle.pieceSizes.mostBytes() < part.length;
}

/**
 * Sends what the cloud does not hold, piece after piece, and makes them the part. Each that came through stays whatever comes after.
 * "whole": the part had better go whole.
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
  const { session, requestId } = upload.job;
  const { number, length } = part;
  const whole = { requestId, uploadId: upload.uploadId, number, length, ...toDigestFields(digest) };
  try {
    return await session.call(api.edge.composePart, whole, { signal });
  } catch (failure) {
    if (failure instanceof ApiFailure && failure.code === "DigestMismatch") progress.refute();
    // It forgot them: asking for the next target tells what it has.
    if (failure instanceof ApiFailure && failure.code === "PartsMissing")
      await adopt(upload, { part, held: [], progress });
    throw failure;
  }
}

interface Sending {
  readonly part: Part;
  readonly progress: PieceProgress;
  readonly signal: AbortSignal;
}

/** As many pieces as there are targets for, while they fit what the link carries. */
async function sendNext(upload: OpenUpload, { part, progress, signal }: Sending): Promise<void> {
  const { job, source, uploadId } = upload;
  const { file, storage, requestId } = job;
  const { number } = part;
  const planned = await planPieces(upload, part, progress.heldBytes());
  const asked = { requestId, uploadId, number, pieces: planned };
  const { held, grants } = await job.session.call(api.edge.grantPieces, asked, { signal });
  // What is there already was not answered in time. Less than was acknowledged is a fault of the far side, to be met after a rest.
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

/** What the cloud holds is gone on with only where it is the file's: nothing that changed meanwhile gets mixed. */
async function adopt(
  { job, source }: OpenUpload,
  { part, held, progress }: { part: Part; held: readonly Piece[]; progress: PieceProgress },
): Promise<void> {
  for (const [index, piece] of held.entries()) {
    const isNext = piece.offset === endOf(held.slice(0, index)) && piece.offset + piece.length <= part.length;
    if (!isNext) throw new TypeError(`the control plane tells pieces of part ${part.number} that make no part`);
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
