// For an API key, making a layout that only its creator may write (`CREATOR_WRITE`) is 403, and an existing one is 404. Deleted layouts
// keep their id, and `updatedSince` does not list them.

import { Layout } from "@downlink/protocol";
import { z } from "zod";
import type { Ctx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import type { LayoutModel } from "../../db/generated/models.ts";

/** `data`, if it is requested, is the JSON text that was sent. */
export type LayoutRow = Omit<LayoutModel, "data"> & { data?: string };

/**
 * Selects the layouts that the caller may see and that are not deleted: those that are shared with the organization, and a member's own.
 * spec: Authentication 7
 */
export function filterVisible(ctx: Pick<Ctx, "caller">) {
  return { ...filterEverVisible(ctx), deletedAtNs: null } as const;
}

/** Does what {@link filterVisible} does, also for deleted ones. */
export function filterEverVisible({ caller }: Pick<Ctx, "caller">) {
  const shared = { permission: { not: "CREATOR_WRITE" } } as const;
  const { orgId } = caller;
  if (caller.kind === "apiKey") return { orgId, ...shared };
  return { orgId, OR: [shared, { creatorOrgMemberId: caller.memberId }] };
}

/** Formats the layout as JSON, with `data` inserted unchanged. */
export function layoutJson({ data, ...row }: LayoutRow): string {
  const fields: Complete<Omit<Layout, "data">> = {
    id: row.id,
    name: row.name,
    createdAt: row.createdAtNs,
    updatedAt: row.updatedAtNs,
    savedAt: row.savedAtNs ?? undefined,
    folderName: row.folderName ?? undefined,
    permission: row.permission,
  };
  const json = JSON.stringify(z.encode(Layout, fields));
  return data === undefined ? json : `${json.slice(0, -1)},"data":${data}}`;
}
