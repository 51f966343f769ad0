import type { AdoptionModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";

/**
 * The walk through the object store while the deployment recovers.
 *
 *   ledger ──▶ listing ──▶ imported ──▶ rest ──▶ rows ──▶ marking ──▶ over
 *                                                  │         ▲
 *                                          tooMany ▼         │ accept
 *                                                asking ─────┘
 *
 * - `ledger` deletes and revokes again what was deleted and revoked since the backup
 * - `listing` stores which uploads have a manifest but no recording
 * - `imported` makes uploads recordings again that were recordings. Until it ends nothing is indexed, because a copy that is indexed first
 *   would take the place of its original
 * - `rest` continues the other uploads where they were
 * - `rows` stores which recordings have no object
 * - `asking` waits for an admin, because so many objects are missing that the store itself may be the wrong one
 * - `marking` marks these recordings as missing their data, and requests it from the edge
 */
export type AdoptionPass = AdoptionModel["pass"];
export type AdoptionEvent = "done" | "tooMany" | "accept";

/** This stands for an event that does not apply in a pass. */
const no = undefined;

const transitions: Record<AdoptionPass, Record<AdoptionEvent, AdoptionPass | typeof no>> = {
  ledger: { done: "listing", tooMany: no, accept: no },
  listing: { done: "imported", tooMany: no, accept: no },
  imported: { done: "rest", tooMany: no, accept: no },
  rest: { done: "rows", tooMany: no, accept: no },
  rows: { done: "marking", tooMany: "asking", accept: no },
  asking: { done: no, tooMany: no, accept: "marking" },
  marking: { done: "over", tooMany: no, accept: no },
  over: { done: no, tooMany: no, accept: no },
};

export function nextPass(pass: AdoptionPass, event: AdoptionEvent): AdoptionPass | undefined {
  return transitions[pass][event];
}

/** During these passes an object that was a recording may not have its recording again yet. */
export const passesBeforeIndexing = ["ledger", "listing", "imported"] as const satisfies AdoptionPass[];

/** Says whether uploaded files must wait before they are indexed. */
export async function isIndexingHeld(tx: Transaction): Promise<boolean> {
  const [row] = await tx.$queryRaw<[{ isHeld: boolean }]>`
    SELECT d."recoveringSinceNs" IS NOT NULL
      AND (a.incarnation IS DISTINCT FROM d.incarnation OR a.pass = ANY(${[...passesBeforeIndexing]})) AS "isHeld"
    FROM "Deployment" d LEFT JOIN "Adoption" a ON a.id = 1 WHERE d.id = 1`;
  return row.isHeld;
}
