// Triggers on `Recording` count the missing recordings of episodes in `EpisodeAvailability`, whichever statement changes a recording, so
// that a list does not have to compute them: deleting one recording of 12,500 episodes takes half a second more, and a list of episodes
// that miss data reads an index. The table is separate from `Episode`, because each change would write the text indexes of `Episode` again,
// which takes four times as long.

import type { Episode, MemberRecording } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import type { Prisma } from "../../db/generated/client.ts";
import { sortByIds } from "../../db/sort-by-ids.ts";
import { readLocation } from "../../store/customer-buckets/read-location.ts";

/** The parts that an answer shows beside an episode's own fields. */
export type EpisodeInclude = readonly ("recordings" | "creationContext")[];

const episodeColumns = {
  id: true,
  projectId: true,
  startNs: true,
  endNs: true,
  metadata: true,
  creatorOrgMemberId: true,
  creatorApiKeyId: true,
  createdAtNs: true,
} as const satisfies Prisma.EpisodeSelect;

type EpisodeRow = Prisma.EpisodeGetPayload<{ select: typeof episodeColumns }> & {
  readonly creationContext?: string | null;
};

interface MemberRow {
  readonly episodeId: string;
  readonly recordingId: string;
  readonly path: string;
  readonly location: string | null;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly deviceId: string | null;
  readonly available: boolean;
  readonly resolvable: boolean;
}

/** Reads the episodes in the order of the ids, with two queries; an episode that was deleted meanwhile is left out. */
export async function readEpisodes(
  { db }: Pick<Ctx, "db">,
  ids: readonly string[],
  include: EpisodeInclude,
): Promise<Complete<Episode>[]> {
  const select = { ...episodeColumns, creationContext: include.includes("creationContext") };
  const [rows, members] = await Promise.all([
    db.prisma.episode.findMany({ where: { id: { in: [...ids] } }, select }),
    include.includes("recordings") ? readMembers(db, ids) : undefined,
  ]);
  return sortByIds(ids, rows).map((row) => toEpisode(row, members && (members.get(row.id) ?? [])));
}

/** Reads the recordings of each episode, by start. */
async function readMembers({ prisma }: Ctx["db"], ids: readonly string[]): Promise<Map<string, MemberRow[]>> {
  const rows = await prisma.$queryRaw<MemberRow[]>`
    SELECT m.*, r.location, r.id IS NOT NULL AS resolvable, r."importStatus" IS NOT DISTINCT FROM 'complete' AS available
    FROM "EpisodeRecording" m LEFT JOIN "Recording" r ON r.id = m."recordingId"
    WHERE m."episodeId" = ANY(${[...ids]}) ORDER BY m."startNs", m."recordingId"`;
  return Map.groupBy(rows, ({ episodeId }) => episodeId);
}

function toEpisode(row: EpisodeRow, members: readonly MemberRow[] | undefined): Complete<Episode> {
  const { creationContext } = row;
  return {
    id: row.id,
    projectId: row.projectId,
    startTime: row.startNs,
    endTime: row.endNs,
    metadata: row.metadata as Episode["metadata"],
    recordings: members?.map(toMember),
    hasMissingRecordings: members?.some(({ available }) => !available),
    creationContext:
      typeof creationContext === "string"
        ? (JSON.parse(creationContext) as Episode["creationContext"])
        : creationContext,
    creatorOrgMemberId: row.creatorOrgMemberId,
    creatorApiKeyId: row.creatorApiKeyId,
    createdAt: row.createdAtNs,
  };
}

function toMember(row: MemberRow): Complete<MemberRecording> {
  return {
    id: row.recordingId,
    path: row.path,
    location: readLocation(row.location),
    start: row.startNs,
    end: row.endNs,
    deviceId: row.deviceId ?? undefined,
    available: row.available,
    resolvable: row.resolvable,
  };
}
