// A viewer looks around in a file by ranges, all through a sitting. So the export of a selection is written once, as an object of its own: the
// sizes of compressed chunks are unknown before. The job that removes the object is queued before its first byte is written, and so each
// object has an owner whatever happens. A recording that is wanted whole, and that viewers can read as it is, is served without a copy.

import { MAX_VIEW_BYTES } from "@downlink/protocol";
import { isIndexedMcap, recordingFormatOf } from "@downlink/recordings";
import type { Deps } from "../../calls/context/context.ts";
import { ApiError, invalid, refuse } from "../../core/errors.ts";
import type { ViewLinkModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { withTransaction } from "../../db/transaction.ts";
import { BlobTooLargeError } from "../../store/blobs/blob-errors.ts";
import { isOfCustomer } from "../../store/blobs/object-key.ts";
import { type ExportSelection, type StoredSource, unpackSelection } from "../exports/export-selection.ts";
import { openRecording } from "../exports/open-stored.ts";
import type { PreparedExport } from "../exports/prepare-export.ts";
import { type ExportDeps, makeExport, noteUnsound } from "../exports/stream-selection.ts";
import { dropUnread } from "./drop-copies.ts";

const GIB = 1024 ** 3;
/** A selection without topics is refused at once if it is estimated to be so many times as large as a file may be. */
const SURELY_TOO_LARGE = 2;
const LOOK_AGAIN_MS = 2000;
/** The object stays a while longer than its link. */
const AFTER_LINK_SECONDS = 600;

type PrepareDeps = ExportDeps & Pick<Deps, "db" | "jobs">;
type View = Pick<ViewLinkModel, "id" | "orgId" | "selection" | "expiresAtNs">;

/** Throws InvalidRequest for a selection of which no file can be made. */
export function requireFile({ packed, siteId }: Pick<PreparedExport, "packed" | "siteId">): void {
  if (siteId !== undefined) invalid("as", "must be stream for recordings at a self-hosted site");
  const selection = unpackSelection(packed);
  if (selection.topics.length > 0 || isWhole(selection)) return;
  const { bytes, seconds } = estimate(selection);
  if (bytes <= MAX_VIEW_BYTES * SURELY_TOO_LARGE) return;
  const fitting = Math.max(1, Math.floor((seconds * MAX_VIEW_BYTES) / bytes));
  const sizes = `the selection is about ${toGib(bytes)} GiB, and a file has ${toGib(MAX_VIEW_BYTES)} GiB at most`;
  refuse("InvalidRequest", `${sizes}: select some ${fitting} s of it, or fewer topics`);
}

const toGib = (bytes: number) => Number((bytes / GIB).toFixed(1));

/** Takes of each recording the part that lies within the window. */
function estimate({ sources, startNs, endNs }: ExportSelection): { bytes: number; seconds: number } {
  let [bytes, first, last] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const source of sources) {
    const [from, to] = [Number(source.startNs), Number(source.endNs)];
    const start = Math.max(from, Number(startNs ?? from));
    const end = Math.min(to, Number(endNs ?? to));
    const part = to > from ? Math.max(0, end - start) / (to - from) : 1;
    bytes += source.sizeBytes * part;
    [first, last] = [Math.min(first, start), Math.max(last, end)];
  }
  return { bytes, seconds: Math.max(0, last - first) / 1e9 };
}

interface Prepared {
  readonly blobKey: string;
  readonly isCopy: boolean;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** Makes the file behind a view link, unless that has ended. A failure that is no shutdown is written into its row. */
export async function prepareView(deps: PrepareDeps, viewId: string, signal: AbortSignal): Promise<void> {
  const where = { id: viewId, state: "preparing", expiresAtNs: { gt: deps.clock.nowNs() } } as const;
  const view = await deps.db.prisma.viewLink.findFirst({ where });
  if (!view) return;
  const gone = new AbortController();
  try {
    const selection = unpackSelection(view.selection);
    const ended = AbortSignal.any([signal, gone.signal]);
    const prepared =
      (await findWhole(deps, selection)) ?? (await writeCopy(deps, { view, selection, gone, signal: ended }));
    await keep(deps, view, prepared);
  } catch (error) {
    signal.throwIfAborted();
    if (gone.signal.aborted) return;
    if (!(error instanceof ApiError)) deps.log.error({ err: error, viewId }, "the file of a view link was not made");
    await deps.db.prisma.viewLink.updateMany({ where, data: { state: "failed", failureText: describe(error) } });
  }
}

function describe(error: unknown): string {
  if (error instanceof BlobTooLargeError)
    return `the file would have more than ${toGib(MAX_VIEW_BYTES)} GiB: select a shorter time, or fewer topics`;
  return error instanceof ApiError ? error.message : "the file could not be made; the log of the service says why";
}

/** Finds the recording's own object, if it is wanted whole and a viewer finds its way in it by its summary. */
async function findWhole(deps: PrepareDeps, selection: ExportSelection): Promise<Prepared | undefined> {
  const [source] = selection.sources;
  if (!source?.sha256 || !isWhole(selection)) return undefined;
  const { blobKey, sizeBytes, sha256 } = source;
  const stored = await noteUnsound(deps, selection.sources, () => openRecording(deps.blobs, source));
  await using _stored = stored;
  return (await isIndexedMcap(stored)) ? { blobKey, isCopy: false, sizeBytes, sha256 } : undefined;
}

/** Says whether one undamaged MCAP in our own store is selected from its first message to its last. */
function isWhole({ sources, topics, output, damage, missing, lastPerChannel, ...window }: ExportSelection): boolean {
  const [source, ...others] = sources;
  const isPart = topics.length > 0 || damage || missing || lastPerChannel || others.length > 0;
  if (!source || isPart || output.format !== "mcap" || isOfCustomer(source.blobKey)) return false;
  return recordingFormatOf(source.fileName) === "mcap" && isAllOf(source, window);
}

function isAllOf(source: StoredSource, { startNs, endNs }: Pick<ExportSelection, "startNs" | "endNs">): boolean {
  const beginsLater = startNs !== undefined && BigInt(startNs) > BigInt(source.startNs);
  const endsEarlier = endNs !== undefined && BigInt(endNs) < BigInt(source.endNs);
  return !beginsLater && !endsEarlier;
}

interface Writing {
  readonly view: View;
  readonly selection: ExportSelection;
  /** Aborted when the link has ended. */
  readonly gone: AbortController;
  readonly signal: AbortSignal;
}

async function writeCopy(deps: PrepareDeps, { view, selection, gone, signal }: Writing): Promise<Prepared> {
  const blobKey = `${view.orgId}/${newId("view")}`;
  const lastsSeconds = Number((view.expiresAtNs - deps.clock.nowNs()) / 1_000_000_000n) + AFTER_LINK_SECONDS;
  await removeLater(deps, blobKey, lastsSeconds);
  const written = { bytes: 0 };
  using _watch = watch(deps, { view, written, gone });
  const pieces = makeExport(deps, { selection, taker: { owner: view.orgId, token: view.id }, signal });
  const body = count(pieces, written);
  return { blobKey, isCopy: true, ...(await deps.blobs.put(blobKey, body, { maxBytes: MAX_VIEW_BYTES, signal })) };
}

async function* count(pieces: AsyncIterable<Uint8Array>, written: { bytes: number }): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    written.bytes += piece.byteLength;
    yield piece;
  }
}

interface Watched extends Pick<Writing, "view" | "gone"> {
  readonly written: { readonly bytes: number };
}

/** Writes down how much there is, and ends the work once the link has ended. */
function watch({ db, clock, log }: PrepareDeps, { view: { id }, written, gone }: Watched): Disposable {
  const look = async () => {
    const where = { id, state: "preparing", expiresAtNs: { gt: clock.nowNs() } } as const;
    const { count: rows } = await db.prisma.viewLink.updateMany({ where, data: { sizeBytes: written.bytes } });
    if (rows === 0) gone.abort(new Error("the view link has ended"));
  };
  const timer = setInterval(
    () => void look().catch((error) => log.warn({ err: error }, "cannot look at a view link")),
    LOOK_AGAIN_MS,
  );
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

async function keep(deps: PrepareDeps, { id }: View, { blobKey, isCopy, sizeBytes, sha256 }: Prepared): Promise<void> {
  const lastReadAtNs = deps.clock.nowNs(); // a file that was just made is not the one that was not read for longest
  const where = { id, state: "preparing", expiresAtNs: { gt: lastReadAtNs } } as const;
  const data = { state: "ready", blobKey, isCopy, sizeBytes, sha256, lastReadAtNs } as const;
  const { count: rows } = await deps.db.prisma.viewLink.updateMany({ where, data });
  if (isCopy && rows === 0) await removeLater(deps, blobKey, 0);
  if (isCopy && rows > 0) await dropUnread(deps, id);
}

async function removeLater({ db, jobs }: PrepareDeps, blobKey: string, delaySeconds: number): Promise<void> {
  await withTransaction(db, (tx) => jobs.enqueue(tx, { name: "remove-object", data: { blobKey }, delaySeconds }));
}
