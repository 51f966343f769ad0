import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { page } from "../shapes/list.ts";
import { QueryBoolean } from "../shapes/query.ts";
import { Id, PathSegment, StorableText } from "../shapes/text.ts";
import { TimeBound, Timestamp } from "../shapes/time.ts";

const FolderName = StorableText.max(256).regex(/^[^/]*$/, "may not hold a slash");
export const LayoutPermission = z.enum(["CREATOR_WRITE", "ORG_READ", "ORG_WRITE"]);
export type LayoutPermission = z.infer<typeof LayoutPermission>;
/** An object whose content is unknown. The limits of a large body hold: 4 MiB, and 200 levels of nesting. */
const LayoutData = z
  .record(z.string(), z.unknown())
  .meta({ description: "Opaque: what was sent comes back the same, to the character" });

export const Layout = z
  .object({
    id: z.string(),
    name: z.string(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    savedAt: Timestamp.optional().meta({ description: "When it was last saved locally" }),
    folderName: z.string().optional(),
    permission: LayoutPermission,
    data: LayoutData.optional(),
  })
  .meta({ id: "Layout" });
export type Layout = z.infer<typeof Layout>;

const params = z.object({ id: Id });
const Name = StorableText.min(1).max(256);

/** Layouts that an organization shares; API keys see and change only shared ones. */
export const layouts = {
  list: operation({
    method: "get",
    path: "/v1/layouts",
    access: apiKey("layouts.list", "shared"),
    summary: "List the layouts that are shared with the organization",
    query: z.object({
      updatedSince: TimeBound.optional().meta({ description: "Inclusive; deleted layouts are not listed" }),
      includeData: QueryBoolean.default(true),
      ...page,
    }),
    response: z.array(Layout),
  }),
  create: operation({
    method: "post",
    path: "/v1/layouts",
    unaudited: "A layout names its creator and is saved with each change of a panel",
    makes: { repeat: "answer", idField: "id" },
    access: apiKey("layouts.create", "organization"),
    summary: "Create a shared layout",
    description: "An API key cannot create a layout that is its creator's alone (`CREATOR_WRITE`): 403.",
    bodySize: "large",
    textField: "data",
    body: z.object({
      id: PathSegment.max(36).optional().meta({ description: "The client's own; made up where it is absent" }),
      name: Name,
      savedAt: Timestamp.optional(),
      folderName: FolderName.optional(),
      permission: LayoutPermission,
      data: LayoutData,
    }),
    response: Layout,
  }),
  get: operation({
    method: "get",
    path: "/v1/layouts/{id}",
    access: apiKey("layouts.list", "shared"),
    summary: "Get a layout",
    params,
    query: z.object({ includeData: QueryBoolean.default(false) }),
    response: Layout,
  }),
  update: operation({
    method: "patch",
    path: "/v1/layouts/{id}",
    unaudited: "A layout names its creator and is saved with each change of a panel",
    access: apiKey("layouts.update", "organization"),
    summary: "Update a shared layout",
    description: "An API key cannot take a layout away from the organization (`CREATOR_WRITE`): 403.",
    params,
    bodySize: "large",
    textField: "data",
    body: z.object({
      name: Name.optional(),
      savedAt: Timestamp.optional(),
      folderName: FolderName.optional().meta({ description: "An empty text unsets it" }),
      permission: LayoutPermission.optional(),
      data: LayoutData.optional(),
    }),
    response: Layout,
  }),
  delete: operation({
    method: "delete",
    path: "/v1/layouts/{id}",
    audits: "layout",
    access: apiKey("layouts.delete", "organization"),
    summary: "Delete a shared layout; it can be restored",
    description: "Its id stays taken.",
    params,
    response: z.object({ success: z.literal(true) }),
  }),
  restore: operation({
    method: "post",
    path: "/v1/layouts/{id}/restore",
    audits: "layout",
    makes: "nothing",
    access: apiKey("layouts.delete", "organization"),
    summary: "Restore a deleted layout",
    description: "Harmless for one that is not deleted.",
    params,
    response: z.object({ success: z.literal(true) }),
  }),
};
