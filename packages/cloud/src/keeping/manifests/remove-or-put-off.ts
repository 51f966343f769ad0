import type { Deps } from "../../calls/context/context.ts";
import { withTransaction } from "../../db/transaction.ts";
import { NotSafeError } from "../../recovery/held-deployment.ts";
import { removeObject } from "./remove-object.ts";

const PUT_OFF_SECONDS = 300;

/** Runs the job that removes an object. While nothing may be destroyed it does not fail but queues another one for later. */
export async function removeOrPutOff(deps: Pick<Deps, "db" | "blobs" | "jobs">, blobKey: string): Promise<void> {
  try {
    await removeObject(deps, blobKey);
  } catch (error) {
    if (!(error instanceof NotSafeError)) throw error;
    const later = { name: "remove-object", data: { blobKey }, delaySeconds: PUT_OFF_SECONDS } as const;
    await withTransaction(deps.db, (tx) => deps.jobs.enqueue(tx, later));
  }
}
