// View links need the database, because it must be possible to end them: the row holds the selection, and the link names the row. Triggers
// remove the row in the transaction that deletes, disables or weakens its key; creating a link locks the key's row, so that none is created
// after that. A key has 100 links at most.

import type { Context, Hono } from "hono";
import { sql } from "kysely";
import type { Env } from "../../calls/connections/env.ts";
import type { Deps } from "../../calls/context/context.ts";
import { sendBlob } from "../../calls/data-plane/download.ts";
import { logBreak, openLink } from "../../calls/data-plane/link-request.ts";
import { ApiError } from "../../core/errors.ts";
import { signLink, verifyLink } from "../../core/signed-link.ts";
import type { ViewLinkModel } from "../../db/generated/models.ts";
import { type Parameters, prepare } from "../../db/prepared.ts";
import { exportLink } from "../exports/export-link.ts";
import { unpackSelection } from "../exports/export-selection.ts";
import { type ExportDeps, streamSelection } from "../exports/stream-selection.ts";

const VIEW_PATH = "/data-plane/views";
/** A stream may go on for this long after its link was ended. */
const LOOK_AGAIN_MS = 2000;
const NOTE_READ_NS = 60_000_000_000n;

type ViewDeps = ExportDeps & Pick<Deps, "db" | "jobs" | "publicUrl">;

interface View {
  readonly id: string;
  readonly fileName: string;
  readonly expiresAtNs: bigint;
}

/** Gives the same text each time for the same row. The path ends in the file's name, by which viewers know the format. */
export function signedView(
  { signer, publicUrl }: Pick<Deps, "signer" | "publicUrl">,
  { id, fileName, expiresAtNs }: View,
): string {
  const path = `${VIEW_PATH}/${id}/${fileName}`;
  const expiresAtMs = Number(expiresAtNs / 1_000_000n);
  return `${publicUrl()}${path}?${signLink(signer, { method: "GET", path, claims: {}, expiresAtMs })}`;
}

/**
 * Serves `GET link`: streams what the view link selects, or sends its file, as long as its row exists. Browsers may read it only from the origins that
 * `DOWNLINK_LINK_ORIGINS` names. A link to recordings at a self-hosted site leads to an export link there, made at each visit: a stream
 * that has begun there goes on to its end when the row is deleted.
 */
export function viewRoute(app: Hono<Env>, deps: ViewDeps): void {
  app.get(`${VIEW_PATH}/:id/:fileName`, async (c) => {
    openLink(c, deps, verifyLink);
    const id = c.req.param("id");
    const [view] = await selectView(deps.db, { id, nowNs: deps.clock.nowNs() });
    if (!view) throw newEndedError();
    const { orgId, maxExports } = view;
    const gone = new AbortController();
    using _watch = watch(deps, { id, expiresAtNs: view.expiresAtNs }, gone);
    if (view.isFile) return await sendFile(c, deps, { ...view, id, gone });
    const packed = view.selection!;
    const selection = unpackSelection(packed);
    const { siteId } = selection;
    if (siteId !== undefined) {
      const { link } = await exportLink({ ...deps, caller: undefined }, { orgId, packed, siteId, maxExports });
      c.header("cache-control", "no-store");
      return c.redirect(link, 302);
    }
    const headers = { "cache-control": "no-store" };
    return await streamSelection(c, deps, { selection, atOnce: maxExports ?? undefined, headers, gone });
  });
}

interface FileView extends Pick<ViewLinkModel, "id" | "fileName" | "state" | "blobKey" | "sha256" | "failureText"> {
  readonly lastReadAtNs: bigint | null;
  readonly gone: AbortController;
}

async function sendFile(c: Context<Env>, deps: ViewDeps, view: FileView): Promise<Response> {
  const { state, blobKey, sha256, fileName, failureText, gone } = view;
  if (state === "preparing") throw new ApiError("Unavailable", "the file is being prepared", { retryAfterSeconds: 2 });
  if (state === "failed" || blobKey === null) throw new ApiError("Conflict", failureText ?? "there is no file");
  await noteRead(deps, view);
  return await sendBlob(c, await deps.blobs.open(blobKey), {
    etag: sha256!,
    mediaType: "application/octet-stream",
    fileName,
    controller: gone,
    onFailure: logBreak(c, deps),
  });
}

/** Files that were not read for longest go first; a player reads many ranges, of which one a minute is noted. */
async function noteRead({ db, clock }: ViewDeps, { id, lastReadAtNs }: FileView): Promise<void> {
  const nowNs = clock.nowNs();
  if (lastReadAtNs !== null && nowNs - lastReadAtNs < NOTE_READ_NS) return;
  await db.prisma.viewLink.updateMany({ where: { id }, data: { lastReadAtNs: nowNs } });
}

/** Ends the stream when the link is ended before its time; a stream that has begun may go on after the link's time. */
function watch(
  { db, clock, log }: ViewDeps,
  { id, expiresAtNs }: Omit<View, "fileName">,
  gone: AbortController,
): Disposable {
  const look = async () => {
    if (clock.nowNs() >= expiresAtNs) return;
    const rows = await selectId(db, { id });
    if (rows.length === 0) gone.abort(newEndedError());
  };
  const lookOrWarn = () => void look().catch((error) => log.warn({ err: error }, "cannot look at a view link"));
  const timer = setInterval(lookOrWarn, LOOK_AGAIN_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function newEndedError(): ApiError {
  return new ApiError("LinkExpired", "the view link was ended or has expired; ask who made it for a new one");
}

/** Selects a view by its id while it lasts, with the number of simultaneous streams of its organization. */
const selectView = prepare((db, { id, nowNs }: Parameters<{ id: string; nowNs: bigint }>) =>
  db
    .selectFrom("ViewLink as v")
    .innerJoin("Organization as o", "o.id", "v.orgId")
    .select(["v.orgId", "v.expiresAtNs", "o.maxExports"])
    // A file is read range by range, and needs no selection, which may be large.
    .select(sql<Uint8Array | null>`CASE WHEN v."isFile" THEN NULL ELSE v.selection END`.as("selection"))
    .select(["v.isFile", "v.state", "v.blobKey", "v.sha256", "v.fileName", "v.failureText", "v.lastReadAtNs"])
    .where("v.id", "=", id)
    .where("v.expiresAtNs", ">", nowNs),
);

const selectId = prepare((db, { id }: Parameters<{ id: string }>) =>
  db.selectFrom("ViewLink").select(sql.lit(1).as("one")).where("id", "=", id),
);
