// Finds the data that a selection asks for and that this place does not have: an export without it looks whole, and its reader would not
// see that something is absent.

import { type ImportStatus, MAX_MISSING_RECORDINGS, type MissingData, type MissingReason } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Prisma } from "../../db/generated/client.ts";
import type { RecordingModel } from "../../db/generated/models.ts";

type Where = Prisma.RecordingWhereInput;

/** The data of such a recording can be streamed. */
export const isStreamable = {
  importStatus: "complete",
  storedDamage: null,
  OR: [{ blobKey: { not: null } }, { siteObjectKey: { not: null } }],
} as const satisfies Where;

type Standing = Pick<RecordingModel, "importStatus" | "storedDamage">;

function reasonOf({ importStatus, storedDamage }: Standing): MissingReason {
  return storedDamage === null ? reasons[importStatus] : "damaged";
}

const reasons: Record<ImportStatus, MissingReason> = {
  none: "at-edge",
  pending: "not-imported",
  importing: "not-imported",
  failed: "failed",
  complete: "unavailable",
};

interface Selection {
  /** Selects the recordings within the window, imported or not. */
  readonly where: Where;
  /** The recordings of an episode, which names them also after they were deleted. */
  readonly episode?: { readonly id: string } | undefined;
  readonly window: { readonly startNs: bigint | undefined; readonly endNs: bigint | undefined };
  /** The ids of recordings that are not missed, because others hold what is wanted of them. */
  readonly besides: readonly string[];
}

/** Returns the selected recordings that cannot be streamed, by reason; undefined if there is none. */
export async function findMissing(ctx: Ctx, selection: Selection): Promise<MissingData | undefined> {
  const { recording } = ctx.db.prisma;
  const { besides } = selection;
  const where: Where = { AND: [selection.where, { NOT: isStreamable }, { id: { notIn: [...besides] } }] };
  const counted = await recording.groupBy({ by: ["importStatus", "storedDamage"], where, _count: true });
  const deleted = await findDeleted(ctx, selection);
  if (counted.length === 0 && deleted.length === 0) return undefined;
  const parts = await findPartsOfSelected(ctx, where, selection.where);
  if (parts.length > 0) return findMissing(ctx, { ...selection, besides: [...besides, ...parts] });
  const rows = await recording.findMany({
    where,
    select: { id: true },
    orderBy: [{ startNs: "asc" }, { id: "asc" }],
    take: MAX_MISSING_RECORDINGS,
  });
  return toMissing(
    [...counted.map(({ _count, ...standing }) => [reasonOf(standing), _count] as const), ["deleted", deleted.length]],
    [...rows.map(({ id }) => id), ...deleted],
  );
}

/** Returns those of the recordings whose whole recordings are selected, too: these say what is missing. */
async function findPartsOfSelected(ctx: Ctx, where: Where, selected: Where): Promise<string[]> {
  const cuts = await ctx.db.prisma.cut.findMany({
    where: { recording: where },
    select: { recordingId: true, wholeId: true },
    take: MAX_PARTS,
  });
  if (cuts.length === 0) return [];
  const wholes = await ctx.db.prisma.recording.findMany({
    where: { AND: [selected, { id: { in: cuts.map(({ wholeId }) => wholeId) } }] },
    select: { id: true },
  });
  const ids = new Set(wholes.map(({ id }) => id));
  return cuts.flatMap(({ recordingId, wholeId }) => (recordingId !== null && ids.has(wholeId) ? recordingId : []));
}

/** More are named as missing, although they are not. */
const MAX_PARTS = 10_000;

/** Does the same for one recording that is known not to be streamable. */
export function missingOne(id: string, standing: Standing): MissingData {
  return toMissing([[reasonOf(standing), 1]], [id]);
}

function toMissing(counts: readonly (readonly [MissingReason, number])[], ids: readonly string[]): MissingData {
  const byReason = Map.groupBy(counts, ([reason]) => reason);
  const reasons = [...byReason].map(([reason, of]) => ({
    reason,
    count: of.reduce((sum, [, count]) => sum + count, 0),
  }));
  const some = reasons.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count);
  return {
    recordings: some.reduce((sum, { count }) => sum + count, 0),
    reasons: some,
    recordingIds: ids.slice(0, MAX_MISSING_RECORDINGS),
  };
}

/** Only an episode remembers recordings that were deleted. */
async function findDeleted(ctx: Ctx, { episode, window }: Selection): Promise<string[]> {
  if (!episode) return [];
  const { startNs = null, endNs = null } = window;
  const rows = await ctx.db.prisma.$queryRaw<{ recordingId: string }[]>`
    SELECT m."recordingId" FROM "EpisodeRecording" m
    WHERE m."episodeId" = ${episode.id} AND NOT EXISTS (SELECT FROM "Recording" r WHERE r.id = m."recordingId")
      AND m."endNs" >= coalesce(${startNs}::bigint, m."endNs") AND m."startNs" <= coalesce(${endNs}::bigint, m."startNs")
    ORDER BY m."startNs", m."recordingId"`;
  return rows.map(({ recordingId }) => recordingId);
}

const words: Record<MissingReason, string> = {
  "at-edge": "on the device only",
  "not-imported": "waiting for the end of their import",
  failed: "failed to be imported",
  unavailable: "no longer stored",
  damaged: "damaged in the object store",
  deleted: "deleted",
};

/** Describes what is missing, and what can be done about it, for the sentence of an error. */
export function describeMissing({ recordings, reasons, recordingIds }: MissingData): string {
  const parts = reasons.map(({ reason, count }) => `${count} ${words[reason]}`).join(", ");
  const canBeImported = reasons.some(({ reason }) => ["at-edge", "failed", "damaged"].includes(reason));
  const advice = canBeImported ? "; POST /v1/recordings/{id}/import imports one" : "";
  return `${recordings} of the selected recordings cannot be streamed (${parts}), the first of them ${recordingIds[0]}${advice}`;
}
