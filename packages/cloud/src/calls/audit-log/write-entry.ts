// Entries name what changed in the form of the contract, without secrets: tokens, links and passwords never stand in them. They are written
// in the transaction of the change, so that neither is there without the other.

import { isDeepStrictEqual } from "node:util";
import type { AuditedKind } from "@downlink/protocol";
import type { AuditEntryModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import type { Transaction } from "../../db/transaction.ts";

/** The author of a change, and the address that it came from. */
export type Actor = Pick<AuditEntryModel, "actorKind" | "actorId" | "actorName" | "address" | "requestId">;

/** An operator at a shell of a machine of the deployment. */
export const commandLine: Actor = {
  actorKind: "commandLine",
  actorId: null,
  actorName: null,
  address: null,
  requestId: null,
};

/** The control plane itself: no call asked for the change. */
export const service: Actor = { ...commandLine, actorKind: "service" };

/** The size of a field in an entry, as JSON. */
const MOST_CHARACTERS = 10_000;

type Fields = Readonly<Record<string, unknown>>;

export interface Change {
  /** Null: the change is of the whole deployment. */
  readonly orgId: string | null;
  readonly nowNs: bigint;
  readonly operation: string;
  readonly resourceKind: AuditedKind;
  readonly resourceId: string;
  /** The fields before the change, with values that a JSON text can hold; undefined: the change creates the thing. */
  readonly before?: Fields | undefined;
  /** Undefined: the change deletes the thing. */
  readonly after?: Fields | undefined;
}

export async function writeEntry(tx: Pick<Transaction, "auditEntry">, actor: Actor, change: Change): Promise<void> {
  const { orgId, nowNs: atNs, operation, resourceKind, resourceId } = change;
  const { before, after } = keepDifferences(change);
  const about = { orgId, atNs, operation, resourceKind, resourceId };
  await tx.auditEntry.create({
    data: { id: newId("aud"), ...about, ...actor, before: toJson(before), after: toJson(after) },
  });
}

/** If the thing is there before and after the change, only the fields that changed are kept. */
function keepDifferences({ before, after }: Change): Pick<Change, "before" | "after"> {
  if (before === undefined || after === undefined) return { before, after };
  const names = Object.keys({ ...before, ...after }).filter((name) => !isDeepStrictEqual(before[name], after[name]));
  const among = (fields: Fields) => Object.fromEntries(names.map((name) => [name, fields[name]]));
  return { before: among(before), after: among(after) };
}

/**
 * A field that is undefined has no JSON and is left out. So is the content of a large one, as the metadata of an event may be: it would be
 * kept as long as the log.
 */
function toJson(fields: Fields | undefined) {
  if (fields === undefined) return undefined;
  const texts = Object.entries(fields).flatMap(([name, value]) => {
    const text = JSON.stringify(value);
    return text === undefined ? [] : [[name, text] as const];
  });
  return Object.fromEntries(
    texts.map(([name, text]) => [
      name,
      text.length > MOST_CHARACTERS ? `left out: ${text.length} characters` : JSON.parse(text),
    ]),
  );
}
