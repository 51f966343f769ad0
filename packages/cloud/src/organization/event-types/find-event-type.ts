import type { Ctx } from "../../calls/context/context.ts";
import { throwNotFound } from "../../core/errors.ts";
import { type EventTypeRow, eventTypeColumns } from "./event-type-rows.ts";

/** Event types belong to the organization, whatever projects a key is limited to. */
export async function findEventType(ctx: Ctx, id: string): Promise<EventTypeRow> {
  const where = { id, orgId: ctx.caller.orgId };
  const row = await ctx.db.prisma.eventType.findFirst({ where, select: eventTypeColumns });
  return row ?? throwNotFound(`event type ${id}`);
}
