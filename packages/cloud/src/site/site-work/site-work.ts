import { api, type Input, type Output } from "@downlink/protocol";
import type { SiteCtx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { siteSelectionKey } from "../../data/exports/export-link.ts";
import { openSelection } from "../../data/exports/open-stored.ts";
import { findings } from "./findings.ts";
import { hello } from "./hello.ts";
import { inbox } from "./inbox.ts";
import { lakeFiles } from "./lake-reports.ts";
import { report } from "./report.ts";
import { work } from "./work.ts";

type Selection = (typeof api.site)["selection"];

/** The operations that the process of a self-hosted site calls. */
const handlers: Handlers<typeof api.site> = { hello, inbox, work, report, selection, findings, lakeFiles };

export const siteWork = { contract: api.site, handlers };

/** Answers the selection of an export link to this site, which was too long for the link. */
async function selection(ctx: SiteCtx, { id }: Input<Selection>): Promise<Complete<Output<Selection>>> {
  const { orgId, siteId } = ctx.caller;
  await using stored = await openSelection(ctx.blobs, siteSelectionKey({ orgId, siteId, id }));
  return { data: Buffer.from(await stored.read(0, stored.sizeBytes)).toString("base64") };
}
