import type { api, Extension, Input, Output } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { throwNotFound } from "../../core/errors.ts";
import type { Prisma } from "../../db/generated/client.ts";
import { withTransaction } from "../../db/transaction.ts";
import { packageLink } from "./download-route.ts";

type Contract = typeof api.extensions;

export const extensions: Handlers<Contract> = { list: listExtensions, get: getExtension, delete: deleteExtension };

async function listExtensions(ctx: Ctx, { limit, offset }: Input<Contract["list"]>): Promise<Extension[]> {
  const rows = await ctx.db.prisma.extension.findMany({
    where: { orgId: ctx.caller.orgId },
    include: { activeVersion: true },
    orderBy: [{ createdAtNs: "asc" }, { id: "asc" }],
    take: limit,
    skip: offset,
  });
  return rows.map(toExtension);
}

async function getExtension(ctx: Ctx, { id }: Input<Contract["get"]>): Promise<Complete<Output<Contract["get"]>>> {
  const row = await ctx.db.prisma.extension.findFirst({
    where: { id, orgId: ctx.caller.orgId },
    include: { activeVersion: true },
  });
  if (!row?.activeVersion) throwNotFound(`extension ${id}`);
  const { blobKey, sha256, version } = row.activeVersion;
  const fileName = `${row.publisher}.${row.name}-${version}.foxe`.replaceAll("/", "-"); // names may have a scope
  return { ...toExtension(row), foxe: packageLink(ctx, { blobKey, sha256, fileName }) };
}

/** Deletes the extension with all its versions; jobs remove their objects after the commit. */
async function deleteExtension(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ id: string }> {
  await withTransaction(ctx.db, async (tx) => {
    const { orgId } = ctx.caller;
    const locked = await tx.$queryRaw<object[]>`
      SELECT 1 FROM "Extension" WHERE "id" = ${id} AND "orgId" = ${orgId} FOR UPDATE`; // no version is added meanwhile
    if (locked.length === 0) throwNotFound(`extension ${id}`);
    const versions = await tx.extensionVersion.findMany({ where: { extensionId: id }, select: { blobKey: true } });
    for (const { blobKey } of versions) await ctx.jobs.enqueue(tx, { name: "remove-object", data: { blobKey } });
    await tx.extension.delete({ where: { id } });
  });
  return { id };
}

type ExtensionRow = Prisma.ExtensionGetPayload<{ include: { activeVersion: true } }>;

function toExtension(row: ExtensionRow): Extension {
  const { id, name, publisher, displayName, description, activeVersion } = row;
  const active = { activeVersion: activeVersion?.version ?? null, sha256Sum: activeVersion?.sha256 ?? null };
  return { id, name, publisher, displayName, description, ...active };
}
