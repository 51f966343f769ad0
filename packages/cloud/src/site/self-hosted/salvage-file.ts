import { api, type Output, SALVAGE_RECORD_NAME } from "@downlink/protocol";
import { toIngestError } from "../../imports/ingest/ingest-failure.ts";
import { beginFile, dropFile, findReceived, keepFile } from "./received-files.ts";
import type { SiteDeps } from "./site-deps.ts";
import type { SiteSession } from "./site-session.ts";

type SalvageDeps = Pick<SiteDeps, "blobs" | "indexer" | "log" | "stopping" | "memory">;
export type WantedSalvage = Output<typeof api.site.work>["salvages"][number];

/** How often a salvage may fail for reasons that may pass. */
const MOST_TRIES = 12;
const MOST_TEXT = 2000;

/**
 * Makes a file of what is readable of a damaged one: it comes as the file of a link does, by the same durable steps. Throws if that can be
 * tried again later.
 */
export async function salvageFile(
  deps: SalvageDeps,
  session: SiteSession,
  { tries, ...wanted }: WantedSalvage & { readonly tries: number },
): Promise<void> {
  const { requestId, attempt } = wanted;
  if (await findReceived(deps.blobs, requestId)) return; // it is reported already, or soon
  try {
    await write(deps, wanted);
  } catch (error) {
    const failure = toIngestError(error, tries >= MOST_TRIES ? Number.POSITIVE_INFINITY : 0);
    if (!failure) throw error;
    const { code, message: text } = failure;
    deps.log.warn({ requestId, code }, `salvage failed: ${text}`);
    await session.call(api.site.report, { failed: [{ requestId, attempt, code, text: text.slice(0, MOST_TEXT) }] });
  }
}

async function write({ blobs, indexer, stopping, memory }: SalvageDeps, wanted: WantedSalvage): Promise<void> {
  const { requestId, request, filename: fileName, facts } = wanted;
  await using reader = await blobs.open(wanted.key);
  const key = await beginFile(blobs, { requestId, orgId: memory.facts!.orgId });
  try {
    const record = { name: SALVAGE_RECORD_NAME, facts };
    const { sizeBytes } = await blobs.put(key, indexer.salvage(reader, { fileName, record, signal: stopping }), {
      signal: stopping,
    });
    await keepFile(blobs, { requestId, key, sizeBytes, request });
  } catch (error) {
    if ((await findReceived(blobs, requestId))?.key !== key) await dropFile(blobs, key);
    throw error;
  }
}
