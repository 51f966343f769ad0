import {
  type api,
  FIRST_TIME_NS,
  type Input,
  LAST_TIME_NS,
  MAX_EXPORT_RECORDINGS,
  type MissingData,
} from "@downlink/protocol";
import { extensionOf, recordingFormatOf } from "@downlink/recordings";
import { siteIndexKey } from "../../background/indexing/index-key.ts";
import type { Ctx } from "../../calls/context/context.ts";
import { ApiError, invalid, refuse, throwNotFound } from "../../core/errors.ts";
import type { Prisma } from "../../db/generated/client.ts";
import { type Parameters, prepare } from "../../db/prepared.ts";
import { findSession } from "../../fleet/sessions/find-session.ts";
import { tenancyOf } from "../../organization/projects/find-project.ts";
import { type Tenancy, within } from "../../organization/projects/scope-sql.ts";
import { findEpisode } from "../episodes/find-episode.ts";
import { filterBySpans } from "../recordings/filter-by-spans.ts";
import { findHeldInParts } from "../recordings/find-held-in-parts.ts";
import { filterBySelector } from "../recordings/select-recordings.ts";
import type { StoredSource } from "./export-selection.ts";
import { describeMissing, findMissing, isStreamable, missingOne } from "./find-missing.ts";

type Body = Input<(typeof api.exports)["create"]>;
type Where = Prisma.RecordingWhereInput;

export interface Selected {
  /** The recordings that the stream reads. */
  readonly sources: StoredSource[];
  /** The selected recordings, even if none reaches into the window. */
  readonly recordings: readonly SelectedRecording[];
  readonly window: Window;
  /** The self-hosted site that has all of them; undefined: they are here. */
  readonly siteId: string | undefined;
  /** Selected recordings within the window that the stream cannot hold. */
  readonly missing: MissingData | undefined;
}

export interface SelectedRecording {
  readonly id: string;
  readonly projectId: string;
  readonly device: { readonly name: string } | null;
  readonly startNs: bigint;
  readonly indexKey: string | null;
  readonly siteObjectKey: string | null;
  /** The damage, as JSON. */
  readonly damage: string | null;
}

/** Log times, both ends inclusive. */
interface Window {
  readonly startNs: bigint | undefined;
  readonly endNs: bigint | undefined;
}

const columns = {
  id: true,
  projectId: true,
  blobKey: true,
  siteObjectKey: true,
  siteId: true,
  indexKey: true,
  contentSha256: true,
  sizeBytes: true,
  damage: true,
  path: true,
  format: true,
  startNs: true,
  endNs: true,
  device: { select: { name: true } },
  cut: { select: { wholeId: true } },
} as const;

/**
 * Returns the imported recordings to read, and the window. 404 if nothing that was selected is imported; 409 if anything is not, and all
 * was required. spec: Export
 */
export async function selectSources(ctx: Ctx, body: Body): Promise<Selected> {
  requireBounds(body);
  const found = isOfOneById(body) ? await readOne(ctx, body) : await readAll(ctx, body);
  const { reached, recordings, window, missing } = found;
  if (recordings.length === 0) throw newNotStreamableError(missing);
  if (body.requireComplete && missing) throw new ApiError("Incomplete", describeMissing(missing), { missing });
  if (body.outputFormat === "bag1") requireBags(recordings);
  const siteId = await requireOneSite(ctx, recordings);
  return { sources: reached.map(toSource), recordings, window, siteId, missing };
}

function newNotStreamableError(missing: MissingData | undefined): ApiError {
  const sentence = "the selection holds no imported recording";
  const why = missing ? `: ${describeMissing(missing)}` : "";
  return new ApiError("NoStreamableRecordings", `${sentence}${why}`, { ...(missing && { missing }) });
}

/** Bytes of several sites are never joined, because each site sends only its own. Returns the self-hosted site, if it is one. */
async function requireOneSite(ctx: Ctx, rows: readonly Row[]): Promise<string | undefined> {
  const siteIds = new Set(rows.map(({ siteObjectKey, siteId }) => (siteObjectKey === null ? undefined : siteId!)));
  if (siteIds.size === 1) return [...siteIds][0];
  const ids = [...new Set(rows.flatMap(({ siteId }) => siteId ?? []))];
  const sites = await ctx.db.prisma.site.findMany({ where: { id: { in: ids } }, orderBy: { name: "asc" } });
  const names = sites.map(({ id, name }) => `"${name}" (${id})`).join(", ");
  refuse("InvalidRequest", `the recordings are at several sites: ${names}; export those of one site at a time`);
}

interface Found {
  readonly reached: readonly Row[];
  readonly recordings: readonly Row[];
  readonly window: Window;
  readonly missing: MissingData | undefined;
}

async function readAll(ctx: Ctx, body: Body): Promise<Found> {
  const { named, window, episode } = await selection(ctx, body);
  const where = { AND: [named, isStreamable] };
  const reached = { AND: [where, ...filterByWindow({ ...window, startNs: earliestOf(body, window) })] };
  const found = await ctx.db.prisma.recording.findMany({
    where: reached,
    select: columns,
    orderBy: [{ startNs: "asc" }, { id: "asc" }],
    take: MAX_EXPORT_RECORDINGS + 1,
  });
  const rows = leaveOutParts(found);
  if (found.length > MAX_EXPORT_RECORDINGS)
    refuse("InvalidRequest", `the selection is of more than ${MAX_EXPORT_RECORDINGS} recordings; ask for less at once`);
  // With a device alone, recordings outside of its bounds were not selected.
  const recordings = rows.length > 0 || !namesRecordings(body) ? rows : await findAny(ctx, where);
  const read = { startNs: earliestOf(body, window), endNs: window.endNs, topics: body.topics };
  const besides = await findHeldInParts(ctx, rows, read);
  const within = { AND: [named, ...filterByWindow(window)] };
  return {
    reached: rows,
    recordings,
    window,
    missing: await findMissing(ctx, { where: within, episode, window, besides }),
  };
}

/** A recording holds all that its parts hold, which would come twice. */
function leaveOutParts(rows: readonly Row[]): Row[] {
  const ids = new Set(rows.map(({ id }) => id));
  return rows.filter(({ cut }) => cut === null || !ids.has(cut.wholeId));
}

/** Says whether the selection is one recording named by its id, or a window of it: the most frequent request. */
function isOfOneById(body: Body): body is Body & { recordingId: string } {
  const { recordingId, ...others } = body;
  const narrowing = [others.importId, others.sessionId, others.sessionKey, others.episodeId, others.projectId];
  const isAlone = [...narrowing, others.deviceId, others.deviceName].every((given) => given === undefined);
  return recordingId !== undefined && isAlone;
}

/** Reads the same by one statement, which is prepared. */
async function readOne(ctx: Ctx, body: Body & { recordingId: string }): Promise<Found> {
  const [found] = await selectStored(ctx.db, { ...tenancyOf(ctx), id: body.recordingId });
  const { importStatus, storedDamage, deviceName, ...row } = found ?? throwNotFound(`recording "${body.recordingId}"`);
  const isHeld = row.blobKey !== null || row.siteObjectKey !== null;
  const isHere = importStatus === "complete" && storedDamage === null && isHeld;
  const recordings = isHere ? [withDevice(row, deviceName)] : [];
  const missing = isHere ? undefined : missingOne(row.id, { importStatus, storedDamage });
  const window = { startNs: body.start, endNs: body.end };
  const [fromNs, toNs] = [earliestOf(body, window), window.endNs];
  const isReached = ({ startNs, endNs }: Row) =>
    (fromNs === undefined || endNs >= fromNs) && (toNs === undefined || startNs <= toNs);
  return { reached: recordings.filter(isReached), recordings, window, missing };
}

function withDevice(row: Omit<Row, "device" | "cut">, deviceName: string | null): Row {
  return { ...row, cut: null, device: deviceName === null ? null : { name: deviceName } };
}

/** Selects by id what a caller may see. */
const selectStored = prepare((db, { id, orgId, projectIds }: Parameters<Tenancy & { id: string }>) =>
  db
    .selectFrom("Recording as r")
    .leftJoin("Device as d", "d.id", "r.deviceId")
    .select(["r.id", "r.projectId", "r.blobKey", "r.indexKey", "r.contentSha256", "r.sizeBytes", "r.damage", "r.path"])
    .select(["r.siteObjectKey", "r.siteId"])
    .select(["r.format", "r.startNs", "r.endNs", "r.importStatus", "r.storedDamage", "d.name as deviceName"])
    .where(within("r", { orgId, projectIds }))
    .where("r.id", "=", id),
);

function findAny(ctx: Ctx, where: Where): Promise<Row[]> {
  return ctx.db.prisma.recording.findMany({ where, select: columns, take: 1 });
}

/** A bag can only be exported of bags. spec: wire contract §5 */
function requireBags(rows: readonly Row[]): void {
  const other = rows.find(({ format }) => format !== "bag1");
  if (other)
    throw new ApiError("BagUnavailable", `the recording ${other.id} was not recorded as a bag; export as mcap`);
}

function namesRecordings({ recordingId, recordingKey, importId, sessionId, sessionKey, episodeId }: Body): boolean {
  return [recordingId, recordingKey, importId, sessionId, sessionKey, episodeId].some((given) => given !== undefined);
}

/** A device needs "all three of deviceId/deviceName, start, end". spec: Export */
function requireBounds(body: Body): void {
  const { start, end, includeAttachments, recordingId, recordingKey, importId } = body;
  if (start !== undefined && end !== undefined && start > end) invalid("start", "must not be after end");
  if (!namesRecordings(body) && start === undefined) invalid("start", "is required where a device alone is selected");
  if (!namesRecordings(body) && end === undefined) invalid("end", "is required where a device alone is selected");
  const isOne = (recordingId ?? recordingKey ?? importId) !== undefined;
  if (includeAttachments && !isOne)
    invalid("includeAttachments", "must be false where more than a single recording is selected");
}

interface Selection {
  /** Selects the recordings, imported or not. */
  readonly named: Where;
  readonly window: Window;
  readonly episode: { readonly id: string } | undefined;
}

async function selection(ctx: Ctx, body: Body): Promise<Selection> {
  const { recordingId, recordingKey, importId, deviceId, deviceName, projectId } = body;
  const named = await filterBySelector(ctx, { recordingId, recordingKey, importId, deviceId, deviceName, projectId });
  const keyOrId = body.sessionId ?? body.sessionKey;
  const session = keyOrId === undefined ? undefined : await findSession(ctx, { keyOrId, projectId });
  const episode = body.episodeId === undefined ? undefined : await findEpisode(ctx, body.episodeId);
  const all: Where = {
    AND: [named, session ? { sessionId: session.id } : {}, episode ? { id: { in: episode.recordingIds } } : {}],
  };
  return { named: all, window: narrow({ startNs: body.start, endNs: body.end }, episode), episode };
}

function narrow({ startNs, endNs }: Window, within: { startNs: bigint; endNs: bigint } | undefined): Window {
  if (!within) return { startNs, endNs };
  const beginsLater = startNs !== undefined && startNs > within.startNs;
  const endsEarlier = endNs !== undefined && endNs < within.endNs;
  return { startNs: beginsLater ? startNs : within.startNs, endNs: endsEarlier ? endNs : within.endNs };
}

/** Returns the earliest time of a message: the window's start, or as long before it as the latest messages are searched. */
function earliestOf({ replayPolicy, replayLookbackSeconds }: Body, { startNs }: Window): bigint | undefined {
  if (replayPolicy === "" || startNs === undefined) return startNs;
  const lookbackNs = toNs(replayLookbackSeconds);
  return lookbackNs === undefined ? undefined : startNs - lookbackNs;
}

export function toNs(seconds: number | undefined): bigint | undefined {
  return seconds === undefined ? undefined : BigInt(Math.round(seconds * 1e9));
}

function filterByWindow(window: Window): Where[] {
  const startNs = window.startNs !== undefined && window.startNs < FIRST_TIME_NS ? FIRST_TIME_NS : window.startNs;
  const endNs = window.endNs !== undefined && window.endNs > LAST_TIME_NS ? LAST_TIME_NS : window.endNs;
  return [
    ...(startNs === undefined ? [] : [{ endNs: { gte: startNs } }]),
    ...(endNs === undefined ? [] : [{ startNs: { lte: endNs } }]),
    ...filterBySpans({ startNs, endNs }),
  ];
}

type Row = Prisma.RecordingGetPayload<{ select: typeof columns }>;

/** A recording whose bytes are here. */
export interface HeldSource {
  readonly source: StoredSource;
  /** The recording of which it is a part. */
  readonly wholeId: string | undefined;
}

/** Finds those of some recordings that this deployment itself can read, for work that no caller waits for. */
export async function findHeldSources(
  { db }: Pick<Ctx, "db">,
  { orgId, recordingIds }: { readonly orgId: string; readonly recordingIds: readonly string[] },
): Promise<HeldSource[]> {
  const where = { AND: [{ orgId, id: { in: [...recordingIds] }, siteObjectKey: null }, isStreamable] };
  const rows = await db.prisma.recording.findMany({ where, select: columns });
  return rows.map((row) => ({ source: toSource(row), wholeId: row.cut?.wholeId }));
}

/** The engine chooses the format by the extension, which a path may lack. */
function toSource({ id, blobKey, siteObjectKey, path, format, startNs, endNs, ...row }: Row): StoredSource {
  const fileName = recordingFormatOf(path) ? path : `${id}${extensionOf(format)}`;
  return {
    recordingId: id,
    blobKey: (blobKey ?? siteObjectKey)!,
    sizeBytes: Number(row.sizeBytes),
    sha256: row.contentSha256 ?? undefined,
    indexKey: (siteObjectKey === null ? row.indexKey : siteIndexKey(siteObjectKey)) ?? undefined,
    fileName,
    startNs: String(startNs),
    endNs: String(endNs),
  };
}
