import type { api, Input, Output, TrainingFormat, TrainingMapping } from "@downlink/protocol";
import {
  draftMapping,
  type EpisodeReport,
  requireSame,
  setWriters,
  TrainingError,
  type Trial,
  tryEpisode,
} from "@downlink/training";
import type { Ctx } from "../../calls/context/context.ts";
import { type Complete, toComplete } from "../../core/complete.ts";
import { ApiError, invalid, throwNotFound } from "../../core/errors.ts";
import { newId } from "../../db/ids.ts";
import { membersOf } from "../datasets/membership-sql.ts";
import { findTrainable } from "./find-trainable.ts";
import { readMapping } from "./mapping-rows.ts";
import { findMapping } from "./mappings.ts";
import { openEpisode, readVersionEpisodes, type VersionEpisode } from "./version-episodes.ts";

type Contract = typeof api.trainingSets;
type Tried = Complete<Output<Contract["tryOut"]>>;

const TRIED = 5;
const SHOWN_ROWS = 5;
const LONGEST_MS = 60_000;
/** Read of one episode. */
const MAX_EPISODE_BYTES = 256_000_000;
/** Larger pictures are shown by their sizes alone. */
const MAX_SHOWN_BYTES = 300_000;

/** Guesses a mapping from the topics that all episodes of a version have. */
export async function draft(
  ctx: Ctx,
  { id, versionNumber }: Input<Contract["draft"]>,
): Promise<Complete<Output<Contract["draft"]>>> {
  using _turn = await takeTurn(ctx);
  const { dataset } = await findTrainable(ctx, { id, versionNumber });
  const sample = await chooseEpisodes(ctx, { id, versionNumber });
  const first = sample.find(({ missingIds }) => missingIds.length === 0);
  if (!first) throw new ApiError("Conflict", "the version has no episode whose data is here");
  const topics = await findCommonTopics(ctx, { id, versionNumber });
  if (topics.length === 0) return { mapping: undefined, notes: ["The episodes have no topic in common."] };
  const signal = ctx.goneSignal();
  const episode = openEpisode(ctx, first, { orgId: ctx.caller.orgId, token: newId("ts"), signal });
  const { mapping, notes } = await draftMapping({ episode, topics, task: dataset.name, signal });
  return { mapping: mapping && toComplete(mapping), notes: [...notes] };
}

/** A trial takes a thread for a minute, and so takes no turn of the large reads. */
function takeTurn(ctx: Ctx): Promise<Disposable> {
  return ctx.turns.trials.take({ owner: ctx.caller.orgId }, () => ctx.goneSignal());
}

interface Version {
  readonly id: string;
  readonly versionNumber: number;
}

/** Finds the topics that each episode has in some recording, with their rate in the one that has most. */
async function findCommonTopics({ db }: Ctx, { id, versionNumber }: Version) {
  const rows = await db.prisma.$queryRaw<{ topic: string; rateHz: number | null }[]>`
    WITH member AS (SELECT m."episodeId" FROM "DatasetMember" m WHERE ${membersOf(id, versionNumber)}),
    found AS (
      SELECT t.topic, r."episodeId", (t."messageCount" - 1) * 1e9 / nullif(t."endNs" - t."startNs", 0) AS hz
      FROM member m JOIN "EpisodeRecording" r ON r."episodeId" = m."episodeId"
        JOIN "RecordingTopic" t ON t."recordingId" = r."recordingId" WHERE t."messageCount" > 0)
    SELECT topic, max(hz)::float8 AS "rateHz" FROM found
    GROUP BY topic HAVING count(DISTINCT "episodeId") = (SELECT count(*) FROM member) ORDER BY topic`;
  return rows.map(({ topic, rateHz }) => ({ topic, rateHz: rateHz ?? undefined }));
}

/** Aligns some episodes, and shows the first rows of the first one that has some. */
export async function tryOut(ctx: Ctx, input: Input<Contract["tryOut"]>): Promise<Tried> {
  using _turn = await takeTurn(ctx);
  await findTrainable(ctx, input);
  const mapping = await chooseMapping(ctx, input);
  const format = input.format ?? (mapping.features ? "lerobot-v3" : "parquet");
  const { needs } = setWriters[format];
  if (!mapping[needs]) invalid("format", `is made of ${needs}, and the mapping has none`);
  const chosen = await chooseEpisodes(ctx, input);
  const late = AbortSignal.timeout(LONGEST_MS);
  const signal = AbortSignal.any([late, ctx.goneSignal()]);
  const episodes: Tried["episodes"] = [];
  let shown: Trial | undefined;
  for (const episode of chosen) {
    if (late.aborted) break;
    const trial = await tryOne(ctx, { format, mapping, episode, signal });
    if (late.aborted) break;
    episodes.push(toTried(episode, trial, shown));
    if (!(trial instanceof TrainingError) && trial.rows.length > 0) shown ??= trial;
  }
  const truncated = episodes.length < chosen.length;
  return { episodes, truncated, features: toFeatures(shown), task: shown?.task, rows: (shown?.rows ?? []).map(toRow) };
}

async function chooseMapping(
  ctx: Ctx,
  { id, mapping, mappingId }: Input<Contract["tryOut"]>,
): Promise<TrainingMapping> {
  return mapping ?? readMapping(await findMapping(ctx, { datasetId: id, mappingId: mappingId! }));
}

type Choice = Version & { readonly episodeIds?: readonly string[] | undefined };

/** Returns the episodes that are asked for, or some at equal distances among those whose data some site of the service has. */
async function chooseEpisodes(ctx: Ctx, { id, versionNumber, episodeIds }: Choice): Promise<VersionEpisode[]> {
  const wanted = episodeIds ?? (await selectSample(ctx, { id, versionNumber }));
  const version = { orgId: ctx.caller.orgId, datasetId: id, versionNumber, episodeIds: wanted };
  const found = new Map<string, VersionEpisode>();
  for await (const episode of readVersionEpisodes(ctx, version)) found.set(episode.id, episode);
  const unknown = wanted.find((one) => !found.has(one));
  return unknown === undefined ? [...found.values()] : throwNotFound(`episode ${unknown} of the version`);
}

async function selectSample({ db }: Ctx, { id, versionNumber }: Version): Promise<string[]> {
  const rows = await db.prisma.$queryRaw<{ id: string }[]>`
    SELECT id FROM (
      SELECT m."episodeId" AS id, count(*) OVER () AS "count",
        row_number() OVER (ORDER BY m."startNs", m."episodeId") - 1 AS place
      FROM "DatasetMember" m JOIN "EpisodeAvailability" a ON a."episodeId" = m."episodeId" AND NOT a."hasMissing"
      WHERE ${membersOf(id, versionNumber)}) AS placed
    WHERE place = 0 OR place * ${TRIED} / "count" > (place - 1) * ${TRIED} / "count" ORDER BY place`;
  return rows.map((row) => row.id);
}

interface Trying {
  readonly format: TrainingFormat;
  readonly mapping: TrainingMapping;
  readonly episode: VersionEpisode;
  readonly signal: AbortSignal;
}

async function tryOne(ctx: Ctx, { format, mapping, episode, signal }: Trying): Promise<Trial | TrainingError> {
  const [missing] = episode.missingIds;
  if (missing !== undefined) return new TrainingError(`the recording ${missing} is not here`);
  const reader = { orgId: ctx.caller.orgId, token: newId("ts"), signal, maxBytes: MAX_EPISODE_BYTES };
  const opened = openEpisode(ctx, episode, reader);
  try {
    return await tryEpisode({ format, mapping, episode: opened, rowCount: SHOWN_ROWS, signal });
  } catch (error) {
    if (error instanceof TrainingError) return error;
    if (error instanceof ApiError) return new TrainingError(error.message, { cause: error });
    if (signal.aborted && !ctx.isInterrupted()) return new TrainingError("it took too long");
    throw error;
  }
}

function toTried(
  { id }: VersionEpisode,
  trial: Trial | TrainingError,
  first: Trial | undefined,
): Tried["episodes"][number] {
  if (!(trial instanceof TrainingError))
    return { ...toEpisode(trial.report), problem: trial.problem ?? compareFeatures(trial, first) };
  const none = { rowCount: 0, pieceCount: 0, trimmedStart: 0, trimmedEnd: 0, leftOut: undefined, warnings: [] };
  return { episodeId: id, ...none, problem: trial.message, gaps: [], parts: [] };
}

/** All episodes of a set have features of the same shapes. */
function compareFeatures({ features, report }: Trial, first: Trial | undefined): string | undefined {
  if (!first || report.pieceCount === 0) return undefined;
  try {
    requireSame(first.features, features, report.episodeId);
  } catch (error) {
    if (error instanceof TrainingError) return error.message;
    throw error;
  }
}

function toEpisode({ kept: _, gaps, parts, warnings, ...rows }: EpisodeReport) {
  const shown = gaps.map(({ startNs: start, ...gap }) => ({ ...gap, start }));
  const shaped = parts.map(({ columns, shape, ...part }) => {
    return { ...part, shape: [...shape], columns: columns?.map((column) => ({ ...column })) };
  });
  return { ...rows, gaps: shown, parts: shaped, warnings: [...warnings] };
}

function toFeatures(trial: Trial | undefined): Tried["features"] {
  const entries = Object.entries(trial?.features ?? {});
  return Object.fromEntries(
    entries.map(([name, { dtype, shape, names }]) => [name, { dtype, shape: [...shape], names: names && [...names] }]),
  );
}

function toRow(row: Trial["rows"][number]): Tried["rows"][number] {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toValue(value)]));
}

/** JSON has no other numbers. */
function toNumber(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

type Shown = Tried["rows"][number][string];

function toValue(value: unknown): Shown {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return value.map((one) => toNumber(Number(one)));
  if (typeof value === "number") return toNumber(value);
  if (typeof value !== "object" || value === null) return value as Shown;
  const { bytes, width, height, mediaType } = value as {
    bytes: Uint8Array;
    width: number;
    height: number;
    mediaType: string;
  };
  const data = bytes.byteLength <= MAX_SHOWN_BYTES ? Buffer.from(bytes).toString("base64") : undefined;
  return { mediaType, width, height, bytes: bytes.byteLength, data };
}
