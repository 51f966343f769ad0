import type { Deps } from "../../calls/context/context.ts";
import type { PersonCaller } from "../../core/callers.ts";
import { makeLink } from "../../core/signed-link.ts";
import { newId } from "../../db/ids.ts";
import { withTransaction } from "../../db/transaction.ts";
import { findServingSite } from "../../store/site-keys/find-serving-site.ts";
import { EXPORT_PATH } from "./export-route.ts";

type LinkDeps = Pick<Deps, "db" | "blobs" | "jobs" | "signer" | "clock" | "publicUrl"> & {
  readonly caller: PersonCaller | undefined;
};

const LINK_LIFE_MS = 15_000;
/** The length of a selection inside a link; some programs on the way limit links to 8 KiB. */
const MAX_CLAIM_CHARACTERS = 4096;
/** The object stays until long after the link has expired. */
const STORED_SELECTION_SECONDS = 3600;

interface Linked {
  readonly orgId: string;
  /** The selection in the form of `packSelection`. */
  readonly packed: Uint8Array;
  /** The self-hosted site that has the recordings; undefined: they are here. */
  readonly siteId: string | undefined;
  /** How many exports of the organization one process may send at the same time; null: any number. */
  readonly maxExports: number | null;
}

/** Makes the link that streams a selection, where its recordings are. */
export async function exportLink(
  deps: LinkDeps,
  { orgId, packed, siteId, maxExports }: Linked,
): Promise<ReturnType<typeof makeLink>> {
  const site =
    siteId === undefined ? undefined : await findServingSite({ tx: deps.db.prisma, clock: deps.clock }, siteId);
  const atOnce: Record<string, string> = maxExports === null ? {} : { atOnce: String(maxExports) };
  const claims = { ...(await toClaims(deps, { orgId, packed, siteId })), ...atOnce };
  return makeLink({ ...deps, ...site }, { method: "GET", path: EXPORT_PATH, claims, lifeMs: LINK_LIFE_MS });
}

/**
 * A large selection is an object of its own, which the link names. The job that removes it is queued before its first byte is written. It
 * is here even if the recordings are at a site, which asks for it.
 */
async function toClaims(
  { db, jobs, blobs }: LinkDeps,
  { orgId, packed, siteId }: Omit<Linked, "maxExports">,
): Promise<Record<string, string>> {
  const text = Buffer.from(packed).toString("base64url");
  if (text.length <= MAX_CLAIM_CHARACTERS) return { selection: text };
  const id = newId("exp");
  const blobKey = siteId === undefined ? `${orgId}/${id}` : siteSelectionKey({ orgId, siteId, id });
  await withTransaction(db, (tx) =>
    jobs.enqueue(tx, { name: "remove-object", data: { blobKey }, delaySeconds: STORED_SELECTION_SECONDS }),
  );
  await blobs.put(blobKey, piecesOf(packed), { expectedBytes: packed.byteLength });
  return { selectionKey: siteId === undefined ? blobKey : id };
}

/** A site gets only the selections of its own links, and names them by their ids. */
export function siteSelectionKey({ orgId, siteId, id }: { orgId: string; siteId: string; id: string }): string {
  return `${orgId}/${siteId}/${id}`;
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
