// Export links carry their whole selection, compressed and signed: the stream behind them needs the store and the
// key, no database. They name each recording's object with size and SHA-256, and its verified index: bytes that are
// not those of the import end the connection. For the latest messages they carry which channels each earlier
// recording has, so that none is opened for nothing.

import type { api, Input, Output } from "@downlink/protocol";
import { makeLink } from "../blobs/signed-link.ts";
import type { Ctx } from "../context/context.ts";
import type { Complete } from "../core/complete.ts";
import { newId } from "../db/ids.ts";
import { withTransaction } from "../db/transaction.ts";
import type { Handlers } from "../http/handlers.ts";
import { quotasOf } from "../quotas/require-room.ts";
import { EXPORT_PATH } from "./export-route.ts";
import { prepareExport } from "./prepare-export.ts";

type Contract = typeof api.exports;

const LINK_LIFE_MS = 15_000;
/** Of a selection inside a link, which some programs on the way limit to 8 KiB. */
const MAX_CLAIM_CHARACTERS = 4096;
/** Long after the link has expired. */
const STORED_SELECTION_SECONDS = 3600;

export const exportLinks: Handlers<Contract> = { create: createExportLink };

/** The link names everything that the stream needs, so that the data plane asks nobody. spec: Export */
async function createExportLink(
  ctx: Ctx,
  body: Input<Contract["create"]>,
): Promise<Complete<Output<Contract["create"]>>> {
  const { packed, facts } = await prepareExport(ctx, body);
  const claims = { ...(await toClaims(ctx, packed)), ...(await quotaClaim(ctx)) };
  return { ...makeLink(ctx, { method: "GET", path: EXPORT_PATH, claims, lifeMs: LINK_LIFE_MS }), ...facts };
}

/** A large selection is an object of its own, which the link names. Its removal is a job before its first byte is written. */
async function toClaims(ctx: Ctx, packed: Buffer): Promise<Record<string, string>> {
  const text = packed.toString("base64url");
  if (text.length <= MAX_CLAIM_CHARACTERS) return { selection: text };
  const blobKey = `${ctx.caller.orgId}/${newId("exp")}`;
  await withTransaction(ctx.db, (tx) =>
    ctx.jobs.enqueue(tx, { name: "remove-object", data: { blobKey }, delaySeconds: STORED_SELECTION_SECONDS }),
  );
  await ctx.blobs.put(blobKey, piecesOf(packed), { expectedBytes: packed.byteLength });
  return { selectionKey: blobKey };
}

/** The stream asks no database. */
async function quotaClaim({ db, caller }: Ctx): Promise<Record<string, string>> {
  const { maxExports } = await quotasOf(db, caller.orgId);
  return maxExports === null ? {} : { atOnce: String(maxExports) };
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
