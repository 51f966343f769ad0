import type { ImportRequestModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import { type ImportRequestEvent, nextRequestState, statesBefore } from "./import-request-state.ts";

interface Change {
  readonly id: string;
  readonly event: ImportRequestEvent;
  readonly nowNs: bigint;
  /** Only while this attempt owns the row: a job that was taken over changes nothing. */
  readonly attempt?: number;
  readonly data?: Partial<Omit<ImportRequestModel, "id" | "orgId" | "state">>;
}

/** Moves a request by an event, as one compare-and-set; undefined where the event has no place any more. */
export async function changeRequest(tx: Transaction, change: Change): Promise<ImportRequestModel | undefined> {
  const { id, event, nowNs, attempt, data } = change;
  for (const state of statesBefore(event)) {
    const { count } = await tx.importRequest.updateMany({
      where: { id, state, ...(attempt !== undefined && { attempts: attempt }) },
      data: { ...data, state: nextRequestState(state, event)!, updatedAtNs: nowNs },
    });
    if (count === 1) return tx.importRequest.findUniqueOrThrow({ where: { id } });
  }
  return undefined;
}

/** Ends every request of a recording that still waits for bytes or was not acknowledged yet: nobody wants it any more. */
export async function cancelRequests(
  tx: Transaction,
  { recordingId, nowNs }: { recordingId: string; nowNs: bigint },
): Promise<void> {
  const requests = await tx.importRequest.findMany({ where: { recordingId }, select: { id: true } });
  const ids = requests.map(({ id }) => id);
  await tx.importRequest.updateMany({ where: { id: { in: ids } }, data: { isAcknowledged: true } });
  await tx.importRequest.updateMany({
    where: { id: { in: ids }, state: { in: statesBefore("cancel") } },
    data: { state: "cancelled", updatedAtNs: nowNs },
  });
  await tx.upload.updateMany({
    where: { requestId: { in: ids }, state: "open" },
    data: { state: "abandoned", updatedAtNs: nowNs },
  });
}
