// The unique index of the identity decides between callers, not locks. A batch is stored in the order of identities, so that two batches
// wait for each other in one direction only. It holds shared locks on its recordings, so that a transaction which imports or deletes one
// counts the new episodes too. A given range need not touch the recordings.

import { createHash } from "node:crypto";
import type { api, Input, Output } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { creatorOf } from "../../core/callers.ts";
import type { Complete } from "../../core/complete.ts";
import { invalidAt, throwNotFound } from "../../core/errors.ts";
import { newId } from "../../db/ids.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { visibleIn } from "../../organization/projects/find-project.ts";
import { type EventSnapshot, snapshotEvents } from "./snapshot-events.ts";
import { type NewEpisode, storeEpisodes } from "./store-episodes.ts";

type GetOrCreate = (typeof api.episodes)["getOrCreate"];
type Item = Input<GetOrCreate>["episodes"][number];

/** All items are stored or none: an unknown id leaves nothing. spec: Episodes/Get or create */
export async function getOrCreateEpisodes(
  ctx: Ctx,
  { projectId, episodes: items }: Input<GetOrCreate>,
): Promise<Complete<Output<GetOrCreate>>> {
  await visibleIn(ctx, projectId);
  return withTransaction(ctx.db, async (tx) => {
    const wanted = await resolveItems(tx, projectId, items);
    const found = await storeEpisodes(tx, wanted, {
      orgId: ctx.caller.orgId,
      projectId,
      ...creatorOf(ctx.caller),
      createdAtNs: ctx.clock.nowNs(),
    });
    const isNew = new Set(found.createdIds);
    const episodes = wanted.map(({ identitySha256 }) => {
      const id = found.idOf(identitySha256);
      return { id, created: isNew.delete(id) }; // the first of several items that are this episode
    });
    return { episodes };
  });
}

async function resolveItems(tx: Transaction, projectId: string, items: readonly Item[]): Promise<NewEpisode[]> {
  const events = await snapshotEvents(tx, { projectId, eventIds: items.flatMap(({ eventId }) => eventId ?? []) });
  const named = items.flatMap(({ recordings = [] }) => recordings);
  const ofEvents = [...events.values()].flatMap(({ recordingIds }) => recordingIds);
  const held = await holdRecordings(tx, projectId, [...named, ...ofEvents]);
  for (const id of named) if (!held.has(id)) throwNotFound(`recording ${id}`);
  requireRecordings(items, events, held);
  return items.map((item) => {
    const event = item.eventId === undefined ? undefined : events.get(item.eventId);
    return event ? toEpisodeOfEvent(item, event, held) : toEpisodeOfRecordings(item, held);
  });
}

interface HeldRecording {
  readonly id: string;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly isAvailable: boolean;
}

type Held = ReadonlyMap<string, HeldRecording>;

/**
 * None of the recordings changes until the transaction ends: a transaction that makes one available or missing counts the new episodes too.
 */
async function holdRecordings(tx: Transaction, projectId: string, ids: readonly string[]): Promise<Held> {
  const rows = await tx.$queryRaw<HeldRecording[]>`
    SELECT id, "startNs", "endNs", "importStatus" = 'complete' AS "isAvailable" FROM "Recording"
    WHERE "projectId" = ${projectId} AND id = ANY(${[...new Set(ids)]}) ORDER BY id FOR SHARE`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** An episode without any recording is useless, and an import would never add one, so it is refused. */
function requireRecordings(items: readonly Item[], events: ReadonlyMap<string, EventSnapshot>, held: Held): void {
  const details = items.flatMap(({ eventId = "" }, at) => {
    const event = events.get(eventId);
    if (!event || pickImported(event, held).length > 0) return [];
    return {
      path: `episodes.${at}.eventId`,
      message: `must be an event with an imported recording in its time range, and ${eventId} has none`,
    };
  });
  if (details.length > 0) throw invalidAt(details);
}

/** A recording that was deleted since the event was read is left out. */
function pickImported({ recordingIds }: EventSnapshot, held: Held): HeldRecording[] {
  return recordingIds.flatMap((id) => held.get(id) ?? []).filter(({ isAvailable }) => isAvailable);
}

function toEpisodeOfEvent(item: Item, event: EventSnapshot, held: Held): NewEpisode {
  const { startNs, endNs, deviceId } = event;
  const basis = { kind: "events", eventIds: [item.eventId], deviceId };
  const { creationContext = { version: 1, basis } } = item;
  return toNewEpisode({ ...item, creationContext }, { startNs, endNs, members: pickImported(event, held) });
}

/** "Omitting `startTime` and `endTime` infers the range from the recordings." spec: Episodes/Get or create */
function toEpisodeOfRecordings(item: Item, held: Held): NewEpisode {
  const members = [...new Set(item.recordings)].map((id) => held.get(id)!);
  const span = spanOf(members);
  const { startTime = span.startNs, endTime = span.endNs } = item;
  return toNewEpisode(item, { startNs: startTime, endNs: endTime, members });
}

interface Snapshot {
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly members: readonly HeldRecording[];
}

function toNewEpisode({ metadata = {}, creationContext }: Item, { startNs, endNs, members }: Snapshot): NewEpisode {
  const recordingIds = members.map(({ id }) => id);
  return {
    id: newId("ep"),
    startNs,
    endNs,
    metadata,
    creationContext: creationContext ? JSON.stringify(creationContext) : null,
    recordingIds,
    missingCount: members.filter(({ isAvailable }) => !isAvailable).length,
    identitySha256: identityOf({ startNs, endNs, recordingIds }),
  };
}

function spanOf(members: readonly HeldRecording[]): { startNs: bigint; endNs: bigint } {
  let { startNs, endNs } = members[0]!;
  for (const member of members) {
    if (member.startNs < startNs) startNs = member.startNs;
    if (member.endNs > endNs) endNs = member.endNs;
  }
  return { startNs, endNs };
}

/** Equal for episodes of the same time range and recordings, in whatever order. spec: Episodes: "match exactly" */
function identityOf({ startNs, endNs, recordingIds }: Pick<NewEpisode, "startNs" | "endNs" | "recordingIds">): string {
  const members = [...new Set(recordingIds)].sort();
  return createHash("sha256")
    .update(JSON.stringify([String(startNs), String(endNs), ...members]))
    .digest("hex");
}
