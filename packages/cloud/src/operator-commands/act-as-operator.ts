// Commands for an organization call the verbs of the API, so that what these refuse (the last admin, the last key) is refused here, too, and
// the audit log has each change.

import { type Contract, EVERY_CAPABILITY, type Input } from "@downlink/protocol";
import type { Ctx, Deps } from "../calls/context/context.ts";
import type { BoundContract } from "../calls/serve/again.ts";
import { auditedHandler } from "../calls/serve/audited-call.ts";
import { CommandError } from "../core/command-error.ts";
import { ApiError } from "../core/errors.ts";
import { noteOrWarn } from "../recovery/note-entries.ts";

/** Returns the context of an operator at the command line, who may do everything in this organization. */
export async function operatorOf(deps: Deps, idOrName: string): Promise<Ctx> {
  const where = { OR: [{ id: idOrName }, { name: idOrName }] };
  const organization = await deps.db.prisma.organization.findFirst({ where });
  if (!organization) throw new CommandError(`there is no organization "${idOrName}"`);
  return operatorIn(deps, organization.id);
}

export function operatorIn(deps: Deps, orgId: string): Ctx {
  const rights = { capabilities: [EVERY_CAPABILITY], projectIds: [], expiresAtNs: null };
  return {
    ...deps,
    caller: { kind: "apiKey", keyId: "", isCommandLine: true, orgId, ...rights },
    requestId: "",
    address: () => "",
    goneSignal: () => deps.stopping,
    isInterrupted: () => deps.stopping.aborted,
  };
}

/** Does an operation of the API, with its entry in the audit log. Throws a `CommandError` with the sentence that the API would answer. */
export async function act<C extends Contract, N extends string & keyof C>(
  ctx: Ctx,
  [bound, name]: readonly [BoundContract<C>, N],
  input: Input<C[N]>,
): Promise<unknown> {
  try {
    return await auditedHandler(bound, name)(ctx, input);
  } catch (error) {
    throw error instanceof ApiError ? new CommandError(error.message) : error;
  } finally {
    await noteOrWarn(ctx);
  }
}
