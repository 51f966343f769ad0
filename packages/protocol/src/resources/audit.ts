import { z } from "zod";
import { auditedKinds } from "../operations/audited.ts";
import { apiKey, operation } from "../operations/operation.ts";
import { CursorHeaders, cursorPage } from "../shapes/cursor.ts";
import { SortOrder } from "../shapes/list.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { TimeBound, Timestamp } from "../shapes/time.ts";

const ActorKind = z.enum(["apiKey", "member", "agent", "site", "commandLine", "service"]);
const Fields = z.record(z.string(), z.unknown());

export const AuditEntry = z
  .object({
    id: z.string(),
    at: Timestamp,
    operation: z.string().meta({ description: "As this document names it, or the command of `downlink admin`" }),
    resourceKind: z.enum(auditedKinds),
    resourceId: z.string(),
    actor: z.object({
      kind: ActorKind,
      id: z.string().optional().meta({ description: "Absent for the command line" }),
      name: z.string().optional().meta({ description: "As it was at that time" }),
    }),
    address: z.string().optional().meta({ description: "Where the call came from; of IPv6 the /64" }),
    requestId: z.string().optional(),
    before: Fields.optional().meta({ description: "The fields that were changed or deleted; absent: it was created" }),
    after: Fields.optional().meta({ description: "These fields since then; absent: it was deleted" }),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.infer<typeof AuditEntry>;

/** The audit log: who changed what in the organization, and when. These entries go beyond the specification. */
export const audit = {
  list: operation({
    method: "get",
    path: "/v1/audit",
    access: apiKey("audit.list", "organization"),
    summary: "List who changed, deleted and sent out what: keys, people, sites, definitions and data",
    description: "Entries are kept for 400 days, unless the operator chose another time. Secrets never stand in them.",
    query: z.object({
      start: TimeBound.optional().meta({ description: "Inclusive" }),
      end: TimeBound.optional().meta({ description: "Inclusive" }),
      operation: StorableText.optional().meta({ description: "Such as `apiKeys.create`" }),
      resourceKind: z.enum(auditedKinds).optional(),
      resourceId: Id.optional(),
      actorKind: ActorKind.optional(),
      actorId: Id.optional(),
      sortOrder: SortOrder.default("asc").meta({ description: "By time" }),
      ...cursorPage,
    }),
    response: z.array(AuditEntry),
    responseHeaders: CursorHeaders,
  }),
};
