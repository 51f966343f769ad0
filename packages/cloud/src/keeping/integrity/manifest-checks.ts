// Compares manifests and rows. An upload that is older than manifests has none, so a missing second manifest is reported only for an upload
// that has its first.

import { pacePages } from "../../core/pace.ts";
import { Prisma } from "../../db/generated/client.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { MANIFESTS, ManifestError, manifestKey, parseManifest, readManifestKey } from "../manifests/manifest.ts";
import { type ManifestDeps, writeFromRow } from "../manifests/write-manifests.ts";
import type { Finding } from "./finding.ts";
import { groupItems } from "./group-items.ts";
import { keepRows, type Session } from "./listed-objects.ts";
import { LEFTOVER_AGE_MS } from "./object-checks.ts";
import { pagesOf } from "./suspects.ts";

const ROWS_PER_STATEMENT = 500;

interface ManifestCheck extends Pick<ManifestDeps, "db"> {
  readonly session: Session;
  readonly blobs: Pick<BlobStore, "listNotes" | "getNote" | "putNote">;
  /** Missing manifests are written from the rows. */
  readonly isRepairing: boolean;
  readonly nowMs: number;
  /** How many of the manifests, in per cent, are read; they are drawn again each time. */
  readonly readPercent: number;
}

/** Yields manifests that are missing, that belong to no known object, or that differ from the rows. */
export async function* findWrongManifests(check: ManifestCheck): AsyncGenerator<Finding, void> {
  await keepManifests(check);
  yield* findMissing(check);
  yield* findUnknown(check);
  if (check.readPercent > 0) yield* findDiffering(check);
}

async function keepManifests({ session, blobs }: ManifestCheck): Promise<void> {
  await session.query(Prisma.sql`CREATE TEMPORARY TABLE noted
    (key text NOT NULL, "blobKey" text NOT NULL, kind text NOT NULL, "modifiedAtMs" bigint NOT NULL)`);
  for await (const group of pacePages(groupItems(blobs.listNotes(MANIFESTS), ROWS_PER_STATEMENT))) {
    const rows = group.map(({ key, modifiedAtMs }) => {
      const { blobKey = key, kind = "none" } = readManifestKey(key) ?? {};
      return { key, blobKey, kind, modifiedAtMs: Math.trunc(modifiedAtMs) };
    });
    await keepRows(session, "noted", rows);
  }
  await session.query(Prisma.sql`CREATE INDEX ON noted ("blobKey")`);
  await session.query(Prisma.sql`ANALYZE noted`);
}

/**
 * The manifest of an import is written before its row says that it is complete. A worker of a version without manifests, beside which a later
 * one took the upload, wrote none.
 */
async function* findMissing({ session, db, blobs, isRepairing }: ManifestCheck): AsyncGenerator<Finding, void> {
  const isNoted = (kind: string) =>
    Prisma.sql`EXISTS (SELECT FROM noted n WHERE n."blobKey" = r."blobKey" AND n.kind = ${kind})`;
  const sql = Prisma.sql`SELECT r.id, r."blobKey" FROM "Recording" r
    WHERE r."importStatus" = 'complete' AND ${isNoted("begun")} AND NOT ${isNoted("import")}`;
  for await (const page of pagesOf<{ id: string; blobKey: string }>(session, sql))
    for (const { id, blobKey } of page) {
      const key = manifestKey(blobKey, "import");
      const isThere = (await blobs.getNote(key)) !== undefined;
      if (isThere || !(await holds(session, id, blobKey))) continue;
      const isRepaired = isRepairing && (await writeFromRow({ db, blobs }, { id, blobKey }));
      const text = `it is not in the store; recording ${id} was imported`;
      yield { kind: "missing manifest", subject: key, text, isRepaired };
    }
}

async function holds(session: Session, id: string, blobKey: string): Promise<boolean> {
  const rows = await session.query(Prisma.sql`SELECT FROM "Recording" WHERE id = ${id} AND "blobKey" = ${blobKey}`);
  return rows.length > 0;
}

/** The sweep removes manifests that are not needed any more, but would leave one with the id of another organization's upload. */
async function* findUnknown({ session, blobs, nowMs }: ManifestCheck): AsyncGenerator<Finding, void> {
  const other = Prisma.sql`SELECT u."blobKey" FROM "Upload" u
    WHERE u.id = split_part(n."blobKey", '/', 2) AND u."blobKey" <> n."blobKey"`;
  const isUnknown = Prisma.sql`n."modifiedAtMs" < ${nowMs - LEFTOVER_AGE_MS} AND NOT EXISTS (SELECT FROM promised p WHERE p.key = n."blobKey")
    AND NOT EXISTS (SELECT FROM "Upload" u WHERE u."blobKey" = n."blobKey" AND u.state = 'open')
    AND NOT EXISTS (SELECT FROM listed l WHERE l.key = n."blobKey")`;
  const sql = Prisma.sql`SELECT n.key, n.kind, (${other}) AS other FROM noted n
    WHERE n.kind = 'none' OR EXISTS (${other}) OR (${isUnknown})`;
  for await (const page of pagesOf<Unknown>(session, sql))
    for (const unknown of page) if ((await blobs.getNote(unknown.key)) !== undefined) yield describeUnknown(unknown);
}

interface Unknown {
  readonly key: string;
  readonly kind: string;
  /** The object of the upload that has this id. */
  readonly other: string | null;
}

function describeUnknown({ key, kind, other }: Unknown): Finding {
  if (other !== null) return { kind: "wrong organization", subject: key, text: `the upload of this id is ${other}` };
  if (kind === "none") return { kind: "wrong manifest", subject: key, text: "it is no manifest's key" };
  return { kind: "leftover", subject: key, text: "the manifest describes an object that does not exist" };
}

interface Imported {
  readonly id: string;
  readonly blobKey: string;
  readonly importId: string | null;
  readonly contentSha256: string | null;
}

/** Yields manifests of imports that cannot be read, or that name another recording than the one that holds the object. */
async function* findDiffering({ session, blobs, readPercent }: ManifestCheck): AsyncGenerator<Finding, void> {
  const sql = Prisma.sql`SELECT r.id, r."blobKey", r."importId", r."contentSha256" FROM "Recording" r JOIN noted n ON n."blobKey" = r."blobKey" AND n.kind = 'import'
    WHERE r."importStatus" = 'complete' AND r."contentSha256" IS NOT NULL AND random() * 100 < ${readPercent}::float8`;
  for await (const page of pagesOf<Imported>(session, sql))
    for (const imported of page) {
      const fault = await compareManifest(blobs, imported);
      if (fault === undefined || !(await holds(session, imported.id, imported.blobKey))) continue;
      yield { kind: "wrong manifest", subject: manifestKey(imported.blobKey, "import"), text: fault };
    }
}

async function compareManifest(
  blobs: Pick<BlobStore, "getNote">,
  { id, blobKey, importId, contentSha256 }: Imported,
): Promise<string | undefined> {
  const bytes = await blobs.getNote(manifestKey(blobKey, "import"));
  if (!bytes) return undefined;
  try {
    const manifest = parseManifest(blobKey, "import", bytes);
    if (manifest.recordingId === id && manifest.importId === importId && manifest.sha256 === contentSha256)
      return undefined;
    return `it describes recording ${manifest.recordingId} and import ${manifest.importId}, or other bytes, instead of ${id} and ${importId}`;
  } catch (error) {
    if (error instanceof ManifestError) return error.message;
    throw error;
  }
}
