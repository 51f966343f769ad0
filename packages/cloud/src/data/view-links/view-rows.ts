import type { api, Output, ViewLink } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { type Complete, toComplete } from "../../core/complete.ts";
import type { ViewLinkModel } from "../../db/generated/models.ts";
import { unpackSelection } from "../exports/export-selection.ts";
import { signedView } from "./view-route.ts";

export type NewViewLink = Complete<Output<(typeof api.viewLinks)["create"]>>;

/** A repeat says how many recordings are missing, and not which. */
export function toNewViewLink(ctx: Ctx, row: ViewLinkModel, missingIds: readonly string[] = []): NewViewLink {
  const { damage, missing } = unpackSelection(row.selection);
  const unknownTopics = row.unknownTopics.length > 0 ? row.unknownTopics : undefined;
  const link = signedView(ctx, row);
  const shown = toViewLink(row);
  const viewers = ctx.viewers.filter(({ as }) => as === shown.as);
  return {
    ...shown,
    damage: damage && toComplete(damage),
    missing: missing && { ...missing, recordingIds: [...missingIds] },
    unknownTopics,
    link,
    viewers: viewers.map(({ name, url }) => ({ name, url: url.replaceAll("{link}", encodeURIComponent(link)) })),
  };
}

export function toViewLink(row: Omit<ViewLinkModel, "selection">): Complete<ViewLink> {
  const { id, projectId, isFile, state, sizeBytes, failureText, fileName, recordingCount, memberId, makerName } = row;
  const kind = memberId === null ? "apiKey" : "member";
  return {
    ...{ id, projectId, as: isFile ? "file" : "stream", state, fileName, recordingCount },
    size: sizeBytes === null ? undefined : Number(sizeBytes),
    contentSha256: row.sha256 ?? undefined,
    failure: failureText ?? undefined,
    createdAt: row.createdAtNs,
    createdBy: { kind, id: (memberId ?? row.apiKeyId)!, name: makerName },
    expiresAt: row.expiresAtNs,
  };
}
