import type { Transaction } from "../../db/transaction.ts";

export interface NewEpisode {
  readonly id: string;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The context as a JSON text. */
  readonly creationContext: string | null;
  /** Each recording is named once. */
  readonly recordingIds: readonly string[];
  /** The number of recordings whose data no primary site holds. */
  readonly missingCount: number;
  readonly identitySha256: string;
}

interface Origin {
  readonly orgId: string;
  readonly projectId: string;
  readonly creatorApiKeyId: string | null;
  readonly creatorOrgMemberId: string | null;
  readonly createdAtNs: bigint;
}

export interface Stored {
  readonly createdIds: readonly string[];
  /** Returns the id of a wanted episode: of the new one, or of the one that existed. */
  idOf(identitySha256: string): string;
}

interface IdentityRow {
  readonly id: string;
  readonly identitySha256: string;
}

/**
 * Stores each episode that does not exist yet, once, even if other transactions store it at the same time: the unique index of the identity
 * decides. The transaction must hold locks on the recordings, so that the numbers of missing ones stay true.
 */
export async function storeEpisodes(tx: Transaction, wanted: readonly NewEpisode[], origin: Origin): Promise<Stored> {
  const createdIds: string[] = [];
  const ids = new Map<string, string>();
  let lacking = sortDistinct(wanted);
  // An episode that another transaction stored, and a third one deleted before it was read, is stored in another round.
  while (lacking.length > 0) {
    const created = await insertEpisodes(tx, lacking, origin);
    createdIds.push(...created.map(({ id }) => id));
    for (const { id, identitySha256 } of [...created, ...(await readExisting(tx, lacking, origin))])
      ids.set(identitySha256, id);
    lacking = lacking.filter(({ identitySha256 }) => !ids.has(identitySha256));
  }
  const isCreated = new Set(createdIds);
  await insertMembers(
    tx,
    wanted.filter(({ id }) => isCreated.has(id)),
  );
  return { createdIds, idOf: (identitySha256) => ids.get(identitySha256)! };
}

/**
 * Keeps the first of equal episodes, in the order of the identities: two transactions that store the same ones wait for each other in one
 * direction only.
 */
function sortDistinct(wanted: readonly NewEpisode[]): NewEpisode[] {
  const first = new Map([...wanted].reverse().map((episode) => [episode.identitySha256, episode]));
  return [...first.values()].sort((one, other) => (one.identitySha256 < other.identitySha256 ? -1 : 1));
}

/** Inserts those that are new, after waiting for other transactions that are about to store one of them. */
function insertEpisodes(tx: Transaction, rows: readonly NewEpisode[], origin: Origin): Promise<IdentityRow[]> {
  const { orgId, projectId, creatorApiKeyId, creatorOrgMemberId, createdAtNs } = origin;
  return tx.$queryRaw<IdentityRow[]>`
    WITH given AS (
      SELECT * FROM jsonb_to_recordset(${toJson(rows)}::jsonb) AS g(id text, "startNs" bigint, "endNs" bigint,
        metadata jsonb, "creationContext" text, "identitySha256" text, "missingCount" integer)
    ), created AS (
      INSERT INTO "Episode" (id, "orgId", "projectId", "startNs", "endNs", metadata, "creationContext", "identitySha256",
        "creatorApiKeyId", "creatorOrgMemberId", "createdAtNs")
      SELECT id, ${orgId}, ${projectId}, "startNs", "endNs", metadata, "creationContext", "identitySha256",
        ${creatorApiKeyId}, ${creatorOrgMemberId}, ${createdAtNs}
      FROM given ORDER BY "identitySha256"
      ON CONFLICT ("projectId", "identitySha256") DO NOTHING
      RETURNING id, "identitySha256"
    ), counted AS (
      INSERT INTO "EpisodeAvailability" ("episodeId", "projectId", "missingCount", "hasMissing", "createdAtNs", "startNs", "endNs")
      SELECT id, ${projectId}, "missingCount", "missingCount" > 0, ${createdAtNs}, "startNs", "endNs"
      FROM given JOIN created USING (id)
    )
    SELECT id, "identitySha256" FROM created`;
}

/** A separate statement is needed to see what the insertion waited for. */
function readExisting(tx: Transaction, rows: readonly NewEpisode[], { projectId }: Origin): Promise<IdentityRow[]> {
  const identities = rows.map(({ identitySha256 }) => identitySha256);
  return tx.$queryRaw<IdentityRow[]>`
    SELECT id, "identitySha256" FROM "Episode"
    WHERE "projectId" = ${projectId} AND "identitySha256" = ANY(${identities})`;
}

async function insertMembers(tx: Transaction, episodes: readonly NewEpisode[]): Promise<void> {
  const members = episodes.flatMap(({ id, recordingIds }) => recordingIds.map((recordingId) => ({ id, recordingId })));
  await tx.$executeRaw`
    INSERT INTO "EpisodeRecording" ("episodeId", "recordingId", path, "startNs", "endNs", "deviceId")
    SELECT m.id, r.id, r.path, r."startNs", r."endNs", r."deviceId"
    FROM jsonb_to_recordset(${toJson(members)}::jsonb) AS m(id text, "recordingId" text)
    JOIN "Recording" r ON r.id = m."recordingId"`;
}

function toJson(rows: readonly object[]): string {
  return JSON.stringify(rows, (_name, value: unknown) => (typeof value === "bigint" ? value.toString() : value));
}
