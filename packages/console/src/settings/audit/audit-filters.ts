import { type AuditedKind, auditedKinds } from "@downlink/protocol";
import { boundsOf } from "../../time/range.ts";
import { choiceParam, textParam, timeParam, type Values } from "../../url/params.ts";

export const ACTOR_KINDS = ["apiKey", "member", "agent", "site", "commandLine", "service"] as const;

/** The parameters in the address of the audit log. */
export const auditParams = {
  from: timeParam,
  to: timeParam,
  operation: textParam,
  kind: choiceParam<AuditedKind | "">([...auditedKinds, ""], ""),
  resource: textParam,
  by: choiceParam<(typeof ACTOR_KINDS)[number] | "">([...ACTOR_KINDS, ""], ""),
  actor: textParam,
};
export type AuditValues = Values<typeof auditParams>;

/** Returns the query for the filters of the page: the newest first. */
export function toAuditQuery({ kind, by, operation, resource, actor, ...range }: AuditValues, nowMs: number) {
  return {
    sortOrder: "desc" as const,
    ...boundsOf(range, nowMs),
    ...(operation && { operation }),
    ...(kind && { resourceKind: kind }),
    ...(resource && { resourceId: resource }),
    ...(by && { actorKind: by }),
    ...(actor && { actorId: actor }),
  };
}
