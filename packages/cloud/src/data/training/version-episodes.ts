import { type StoredEpisode, TrainingError, type Window } from "@downlink/training";
import type { Deps } from "../../calls/context/context.ts";
import { Prisma } from "../../db/generated/client.ts";
import { membersOf } from "../datasets/membership-sql.ts";
import type { StoredSource } from "../exports/export-selection.ts";
import { findHeldSources, type HeldSource } from "../exports/select-sources.ts";
import { type ExportDeps, makeExport } from "../exports/stream-selection.ts";

/** An episode of a version, with those of its recordings whose bytes are here. */
export interface VersionEpisode {
  readonly id: string;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** By their start and content, so that their order does not depend on ids. */
  readonly sources: readonly StoredSource[];
  /** The ids of its recordings whose bytes are not here. */
  readonly missingIds: readonly string[];
}

interface Version {
  readonly orgId: string;
  readonly datasetId: string;
  readonly versionNumber: number;
  /** Some of its episodes; absent: all. */
  readonly episodeIds?: readonly string[] | undefined;
}

type Row = Pick<VersionEpisode, "id" | "startNs" | "endNs" | "metadata"> & { readonly recordingIds: string[] };

const EPISODES_A_STATEMENT = 200;
const MB = 1_000_000;

/** Yields the episodes of a version by their start, and those of one start by their ids. */
export async function* readVersionEpisodes(deps: Pick<Deps, "db">, version: Version): AsyncGenerator<VersionEpisode> {
  let last: Row | undefined;
  do {
    const rows = await selectEpisodes(deps, version, last);
    const recordingIds = [...new Set(rows.flatMap((row) => row.recordingIds))];
    const held = await findHeldSources(deps, { orgId: version.orgId, recordingIds });
    const byId = new Map(held.map((one) => [one.source.recordingId, one]));
    for (const row of rows) yield withSources(row, byId);
    last = rows.length === EPISODES_A_STATEMENT ? rows.at(-1) : undefined;
  } while (last);
}

function selectEpisodes({ db }: Pick<Deps, "db">, version: Version, last: Row | undefined): Promise<Row[]> {
  const { datasetId, versionNumber, episodeIds } = version;
  const wanted = episodeIds ? Prisma.sql`AND m."episodeId" = ANY(${[...episodeIds]})` : Prisma.empty;
  const beyond = last ? Prisma.sql`AND (m."startNs", m."episodeId") > (${last.startNs}, ${last.id})` : Prisma.empty;
  return db.prisma.$queryRaw<Row[]>`
    SELECT e.id, e."startNs", e."endNs", e.metadata,
      ARRAY(SELECT r."recordingId" FROM "EpisodeRecording" r WHERE r."episodeId" = e.id) AS "recordingIds"
    FROM "DatasetMember" m JOIN "Episode" e ON e.id = m."episodeId"
    WHERE ${membersOf(datasetId, versionNumber)} ${wanted} ${beyond}
    ORDER BY m."startNs", m."episodeId" LIMIT ${EPISODES_A_STATEMENT}`;
}

function withSources({ recordingIds, ...row }: Row, held: ReadonlyMap<string, HeldSource>): VersionEpisode {
  const found = recordingIds.flatMap((id) => held.get(id) ?? []);
  const sources = found
    .filter(({ wholeId }) => !wholeId || !recordingIds.includes(wholeId))
    .map(({ source }) => source);
  return { ...row, sources: sources.sort(compareContents), missingIds: recordingIds.filter((id) => !held.has(id)) };
}

function compareContents(a: StoredSource, b: StoredSource): number {
  const [one, other] = [a, b].map(({ startNs, sha256 = "" }) => `${startNs.padStart(20, "0")} ${sha256}`);
  return one! < other! ? -1 : Number(one! > other!);
}

interface Reader {
  /** The most bytes that are read of it, all readings together; absent: any number. */
  readonly maxBytes?: number;
  readonly orgId: string;
  /** Names the work among others of the organization. */
  readonly token: string;
  readonly signal: AbortSignal;
}

/** Opens an episode for a training set: its messages are those of its export. */
export function openEpisode(deps: ExportDeps, episode: VersionEpisode, reader: Reader): StoredEpisode {
  const { id, startNs, endNs, metadata, sources } = episode;
  const recordings = sources.map(({ recordingId, sha256 = "" }) => ({ id: recordingId, sha256 }));
  let leftBytes = reader.maxBytes ?? Number.POSITIVE_INFINITY;
  return { id, startNs, endNs, metadata, recordings, readMcap };

  function readMcap(topics: readonly string[], window: Window): AsyncIterable<Uint8Array> {
    const reached = sources.filter((source) => reaches(source, window));
    return reached.length === 0 ? none() : limit(exportWindow(topics, { reached, window }));
  }

  async function* limit(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      leftBytes -= piece.byteLength;
      if (leftBytes < 0) throw new TrainingError(`more than ${reader.maxBytes! / MB} MB would be read of the episode`);
      yield piece;
    }
  }

  function exportWindow(topics: readonly string[], { reached, window }: { reached: StoredSource[]; window: Window }) {
    const selection = {
      ...{ fileName: `${id}.mcap`, orgId: reader.orgId, sources: reached, topicSets: [], topics: [...topics] },
      ...{ startNs: String(window.startNs), endNs: String(window.endNs), includeAttachments: false },
      output: { format: "mcap", compression: "" } as const,
    };
    const taker = { owner: reader.orgId, token: reader.token };
    return makeExport(deps, { selection, taker, signal: reader.signal });
  }
}

function reaches(source: StoredSource, { startNs, endNs }: Window): boolean {
  return BigInt(source.startNs) <= endNs && BigInt(source.endNs) >= startNs;
}

async function* none(): AsyncGenerator<Uint8Array> {}
