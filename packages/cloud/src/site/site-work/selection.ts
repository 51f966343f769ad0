import type { api, Input, Output } from "@downlink/protocol";
import type { SiteCtx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { siteSelectionKey } from "../../data/exports/export-link.ts";
import { openSelection } from "../../data/exports/open-stored.ts";

type Selection = (typeof api.site)["selection"];

/** Answers the selection of an export link to this site, which was too long for the link. */
export async function selection(ctx: SiteCtx, { id }: Input<Selection>): Promise<Complete<Output<Selection>>> {
  const { orgId, siteId } = ctx.caller;
  await using stored = await openSelection(ctx.blobs, siteSelectionKey({ orgId, siteId, id }));
  return { data: Buffer.from(await stored.read(0, stored.sizeBytes)).toString("base64") };
}
