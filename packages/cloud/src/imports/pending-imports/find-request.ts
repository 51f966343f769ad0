import type { PendingImport } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { throwNotFound } from "../../core/errors.ts";
import type { ImportRequestModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { visibleTo } from "../../organization/projects/find-project.ts";
import { toPendingImport, withRecording } from "./pending-import-rows.ts";

/** 404 if it is in no project that the caller sees. */
export async function findRequest(ctx: Ctx, requestId: string): Promise<ImportRequestModel> {
  const found = await ctx.db.prisma.importRequest.findFirst({ where: { AND: [{ id: requestId }, visibleTo(ctx)] } });
  return found ?? throwNotFound(`import request ${requestId}`);
}

/** Answers a request as the transaction has left it, before a worker sees it. */
export async function showRequest(tx: Transaction, ctx: Ctx, id: string): Promise<Complete<PendingImport>> {
  const row = await tx.importRequest.findUniqueOrThrow({ where: { id }, include: withRecording });
  return toPendingImport(ctx, row);
}
