import { type Answer, AuditEntry, type api, type Input } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { closePage, openPage, pageOrder, selectBeyondCursor } from "../../calls/search/cursor-page.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { Prisma } from "../../db/generated/client.ts";
import type { AuditEntryModel } from "../../db/generated/models.ts";

type Contract = typeof api.audit;

export const audit: Handlers<Contract> = { list: listEntries };

const columns = { sortValue: Prisma.sql`"atNs"`, type: "bigint", id: Prisma.sql`"id"` } as const;

async function listEntries(ctx: Ctx, query: Input<Contract["list"]>): Promise<Complete<Answer<Contract["list"]>>> {
  const page = openPage(ctx, "audit.list", query);
  const where = Prisma.join([...conditions(ctx, query), ...selectBeyondCursor(page, columns)], " AND ");
  const found = await ctx.db.prisma.$queryRaw<AuditEntryModel[]>`
    SELECT * FROM "AuditEntry" WHERE ${where} ORDER BY ${pageOrder(page, columns)} LIMIT ${page.take} OFFSET ${page.offset}`;
  const places = found.map((row) => ({ ...row, sortValue: String(row.atNs) }));
  const { rows, headers } = closePage(ctx, page, places);
  return { output: rows.map(toEntry), headers };
}

function conditions({ caller }: Ctx, query: Input<Contract["list"]>): Prisma.Sql[] {
  const { start, end } = query;
  const equal = (["operation", "resourceKind", "resourceId", "actorKind", "actorId"] as const).flatMap((name) =>
    query[name] === undefined ? [] : [Prisma.sql`${Prisma.raw(`"${name}"`)} = ${query[name]}`],
  );
  return [
    Prisma.sql`"orgId" = ${caller.orgId}`,
    ...equal,
    ...(start === undefined ? [] : [Prisma.sql`"atNs" >= ${start}`]),
    ...(end === undefined ? [] : [Prisma.sql`"atNs" <= ${end}`]),
  ];
}

export function toEntry(row: AuditEntryModel): Complete<AuditEntry> {
  const { id, atNs: at, operation, resourceId, actorKind, actorId, actorName } = row;
  return {
    ...{ id, at, operation, resourceId },
    resourceKind: AuditEntry.shape.resourceKind.parse(row.resourceKind),
    actor: { kind: actorKind, id: actorId ?? undefined, name: actorName ?? undefined },
    address: row.address ?? undefined,
    requestId: row.requestId ?? undefined,
    before: toFields(row.before),
    after: toFields(row.after),
  };
}

function toFields(value: unknown): Record<string, unknown> | undefined {
  return (value ?? undefined) as Record<string, unknown> | undefined;
}
