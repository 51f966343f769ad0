import { type Changes, EVERY_CAPABILITY } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { seesProject, visibleIn } from "../../organization/projects/find-project.ts";
import { formatPlace, type News } from "./read-changes.ts";

/** 404 if the project is not visible to the caller. */
export async function requireProject(ctx: Ctx, projectId: string | undefined): Promise<void> {
  await visibleIn(ctx, projectId);
}

/** Returns the changes that the caller may list, each thing once. */
export function seenChanges(
  ctx: Ctx,
  { rows, place, isMissed }: News,
  projectId: string | undefined,
): Complete<Changes> {
  const { capabilities } = ctx.caller;
  const lists = (kind: string) => capabilities.includes(EVERY_CAPABILITY) || capabilities.includes(`${kind}s.list`);
  const seen = rows.filter(
    (row) =>
      lists(row.kind) && seesProject(ctx, row.projectId) && (projectId === undefined || row.projectId === projectId),
  );
  const each = new Map(seen.map((row) => [`${row.kind} ${row.id}`, { ...row, deviceId: row.deviceId ?? undefined }]));
  return { changes: [...each.values()], next: formatPlace(place), isMissed };
}
