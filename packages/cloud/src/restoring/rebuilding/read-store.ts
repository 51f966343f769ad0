// The statements of the object store about itself are kept in temporary tables of one connection, so that memory does not grow with the
// store: `listed` has the objects, `noted` the entries of the ledger, and `described` what the manifests say, one row for each upload.

import type { Deps } from "../../calls/context/context.ts";
import { pagesOf } from "../../core/pages-of.ts";
import { runSomeAtOnce } from "../../core/run-some-at-once.ts";
import { Prisma } from "../../db/generated/client.ts";
import { keepListing, keepRows, type Session } from "../../keeping/integrity/listed-objects.ts";
import { pagesOf as rowsOf } from "../../keeping/integrity/suspects.ts";
import {
  MANIFESTS,
  ManifestError,
  type ManifestKind,
  manifestKey,
  parseManifest,
  readManifestKey,
} from "../../keeping/manifests/manifest.ts";
import { LEDGER } from "../../recovery/note-entries.ts";

type Blobs = Pick<Deps["blobs"], "list" | "listNotes" | "getNote">;

/** How many notes are read at once. */
const AT_ONCE = 32;

const TABLES = Prisma.sql`
  CREATE TEMPORARY TABLE noted (id text COLLATE "C" PRIMARY KEY, kind text NOT NULL, subject text NOT NULL, data jsonb NOT NULL);
  CREATE INDEX ON noted (subject);
  CREATE INDEX ON noted ((data ->> 'blobKey')) WHERE kind = 'Data.delete';
  CREATE TEMPORARY TABLE manifest (key text COLLATE "C" NOT NULL, kind text NOT NULL);
  CREATE TEMPORARY TABLE described (key text COLLATE "C" PRIMARY KEY, kind text NOT NULL, "isUnderstood" boolean NOT NULL,
    "orgId" text NOT NULL, "projectId" text, "siteId" text, "deviceId" text, "deviceName" text, "sizeBytes" bigint, "begunAtNs" bigint)`;

/** Reads everything but the objects' bytes. A manifest that is not understood has a row that says so. */
export async function readStore(session: Session, blobs: Blobs, signal: AbortSignal): Promise<void> {
  await session.query(TABLES);
  await keepListing(session, blobs.list(""));
  await keepLedger(session, blobs, signal);
  await keepManifests(session, blobs, signal);
  await session.query(Prisma.sql`ANALYZE noted`);
  await session.query(Prisma.sql`ANALYZE described`);
}

async function keepLedger(session: Session, blobs: Blobs, signal: AbortSignal): Promise<void> {
  for await (const page of pagesOf(blobs.listNotes(LEDGER))) {
    signal.throwIfAborted();
    const texts = await runSomeAtOnce(page, AT_ONCE, async ({ key }) => toText(await blobs.getNote(key)));
    const entries = texts.filter((text) => text !== undefined);
    await session.query(
      Prisma.sql`INSERT INTO noted SELECT e ->> 'id', e ->> 'kind', e ->> 'subject', e -> 'data'
        FROM unnest(${entries}::jsonb[]) AS e ON CONFLICT DO NOTHING`,
    );
  }
}

function toText(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString();
}

/** The later of the two manifests of an upload says more, and only that is read. */
async function keepManifests(session: Session, blobs: Blobs, signal: AbortSignal): Promise<void> {
  for await (const page of pagesOf(blobs.listNotes(MANIFESTS))) {
    signal.throwIfAborted();
    const found = page.flatMap(({ key }) => readManifestKey(key) ?? []);
    await keepRows(
      session,
      "manifest",
      found.map(({ blobKey: key, kind }) => ({ key, kind })),
    );
  }
  const uploads = Prisma.sql`SELECT key, max(kind) AS kind FROM manifest GROUP BY key`; // `import` sorts after `begun`
  for await (const page of rowsOf<{ key: string; kind: ManifestKind }>(session, uploads)) {
    signal.throwIfAborted();
    const rows = await runSomeAtOnce(page, AT_ONCE, ({ key, kind }) => describe(blobs, key, kind));
    await keepRows(
      session,
      "described",
      rows.filter((row) => row !== undefined),
    );
  }
}

/** Returns undefined if the manifest is gone meanwhile. */
async function describe(blobs: Blobs, key: string, kind: ManifestKind): Promise<object | undefined> {
  const bytes = await blobs.getNote(manifestKey(key, kind));
  if (!bytes) return undefined;
  try {
    const { orgId, projectId, siteId, deviceId, deviceName, sizeBytes, begunAtNs } = parseManifest(key, kind, bytes);
    const numbers = { sizeBytes: sizeBytes?.toString(), begunAtNs: begunAtNs.toString() };
    return { key, kind, isUnderstood: true, orgId, projectId, siteId, deviceId, deviceName, ...numbers };
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error; // the store does not answer
    return { key, kind, isUnderstood: false, orgId: key.split("/")[0] };
  }
}
