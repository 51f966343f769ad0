// Layouts of their creator alone (`CREATOR_WRITE`) are 403 for an API key to make and 404 to touch. Deleted ones
// keep their id, and `updatedSince` does not list them.

import { Layout } from "@downlink/protocol";
import { z } from "zod";
import type { Ctx } from "../context/context.ts";
import type { Complete } from "../core/complete.ts";
import type { LayoutModel } from "../db/generated/models.ts";

/** `data`, where it is wanted, is the JSON text that was sent. */
export type LayoutRow = Omit<LayoutModel, "data"> & { data?: string };

/** Those that an API key may see: its organization's, shared, and not deleted. spec: Authentication 7 */
export function whereShared({ caller }: Pick<Ctx, "caller">) {
  return { orgId: caller.orgId, permission: { not: "CREATOR_WRITE" }, deletedAtNs: null } as const;
}

/** On the wire, with `data` spliced in untouched. */
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
