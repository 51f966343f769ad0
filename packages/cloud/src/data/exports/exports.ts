// Export links carry their whole selection, compressed and signed: the stream behind them needs the store and the key, and no database.
// They name each recording's object with its size and SHA-256, and its verified index: bytes that differ from those of the import end the
// connection. For the latest messages they list the channels of each earlier recording, so that none is opened in vain.

import type { api, Input, Output } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/http/handlers.ts";
import { quotasOf } from "../../calls/quotas/require-room.ts";
import type { Complete } from "../../core/complete.ts";
import { exportLink } from "./export-link.ts";
import { prepareExport } from "./prepare-export.ts";

type Contract = typeof api.exports;

export const exportLinks: Handlers<Contract> = { create: createExportLink };

/** The link names everything that the stream needs, so that the data plane needs no database. spec: Export */
async function createExportLink(
  ctx: Ctx,
  body: Input<Contract["create"]>,
): Promise<Complete<Output<Contract["create"]>>> {
  const { packed, siteId, facts } = await prepareExport(ctx, body);
  const { orgId } = ctx.caller;
  const { maxExports } = await quotasOf(ctx.db, orgId); // the stream reads no database
  return { ...(await exportLink(ctx, { orgId, packed, siteId, maxExports })), ...facts };
}
