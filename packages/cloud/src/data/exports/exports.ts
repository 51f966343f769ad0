// Export links carry their whole selection, compressed and signed: the stream behind them needs the store and the key, and of the database
// only whether the API key or session that made the link is still there. They name each recording's object with its size and SHA-256, and
// its verified index: bytes that differ end the connection.

import { api, type Input, type Output } from "@downlink/protocol";
import { z } from "zod";
import { noteSent } from "../../calls/audit-log/note-sent.ts";
import type { Ctx } from "../../calls/context/context.ts";
import { quotasOf } from "../../calls/quotas/require-room.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import { callerId } from "../../core/callers.ts";
import type { Complete } from "../../core/complete.ts";
import { exportLink } from "./export-link.ts";
import { prepareExport } from "./prepare-export.ts";

type Contract = typeof api.exports;

export const exportLinks: Handlers<Contract> = { create: createExportLink };

/** The link names everything that the stream needs, so that a self-hosted site can serve it. spec: Export */
async function createExportLink(
  ctx: Ctx,
  body: Input<Contract["create"]>,
): Promise<Complete<Output<Contract["create"]>>> {
  const { packed, siteId, facts } = await prepareExport(ctx, body);
  const { orgId } = ctx.caller;
  const { maxExports } = await quotasOf(ctx.db, orgId); // the link carries it
  const made = await exportLink(ctx, { orgId, packed, siteId, maxExports });
  const what = z.encode(api.exports.create.body, body);
  await noteSent(ctx, { operation: "exports.create", resourceKind: "export", resourceId: callerId(ctx.caller), what });
  return { ...made, ...facts };
}
