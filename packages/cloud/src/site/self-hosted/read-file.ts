import { api, type Output } from "@downlink/protocol";
import { siteIndexKey } from "../../background/indexing/index-key.ts";
import { IngestError, toIngestError } from "../../imports/ingest/ingest-failure.ts";
import { packFindings } from "../site-findings/site-findings.ts";
import type { SiteDeps } from "./site-deps.ts";
import type { SiteSession } from "./site-session.ts";

type ReadDeps = Pick<SiteDeps, "blobs" | "indexer" | "log" | "stopping">;

export type WantedImport = Output<typeof api.site.work>["imports"][number];

/** How often a read may fail for reasons that may pass. */
const MOST_TRIES = 12;

/** Reads a stored file once, keeps its verified index here, and sends what was found. Throws if that can be tried again later. */
export async function readFile(
  deps: ReadDeps,
  session: SiteSession,
  { tries, ...wanted }: WantedImport & { readonly tries: number },
): Promise<void> {
  const { requestId, attempt } = wanted;
  const { requests } = await session.call(api.site.report, { begun: [{ requestId, attempt }] });
  if (requests[0]?.state !== "processing") return; // it has ended or was cancelled
  try {
    const pieces = await findOut(deps, wanted);
    for (const [at, piece] of pieces.entries()) {
      const place = { requestId, attempt, number: at + 1, isLast: at + 1 === pieces.length };
      await session.call(api.site.findings, { ...place, data: piece.toString("base64") });
    }
  } catch (error) {
    const failure = toIngestError(error, tries >= MOST_TRIES ? Number.POSITIVE_INFINITY : 0);
    if (!failure) throw error;
    const { code, message: text } = failure;
    deps.log.warn({ requestId, code }, `import failed: ${text}`);
    const sha256 = error instanceof RefusedFileError ? error.sha256 : undefined;
    const failed = { requestId, attempt, code, text: text.slice(0, MOST_TEXT), sha256 };
    await session.call(api.site.report, { failed: [failed] });
  }
}

const MOST_TEXT = 2000;

/** The file was read to its end, and cannot be imported. */
class RefusedFileError extends IngestError {
  readonly sha256: string;

  constructor({ code, text }: { readonly code: string; readonly text: string }, sha256: string) {
    super(code, text);
    this.name = "RefusedFileError";
    this.sha256 = sha256;
  }
}

async function findOut({ blobs, indexer, stopping }: ReadDeps, { key, filename }: WantedImport): Promise<Buffer[]> {
  await using reader = await blobs.open(key);
  const indexKey = siteIndexKey(key);
  const { contentSha256, verdict } = await indexer.index(reader, {
    fileName: filename,
    signal: stopping,
    store: async (pieces) => {
      await blobs.delete(indexKey); // an earlier attempt may have written it
      await blobs.put(indexKey, pieces, { signal: stopping });
    },
  });
  if ("refusal" in verdict) throw new RefusedFileError(verdict.refusal, contentSha256);
  return packFindings({ contentSha256, summary: verdict.summary });
}
