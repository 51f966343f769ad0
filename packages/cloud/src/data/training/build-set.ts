// A set is built by one job, from its first episode. Its files have no rows before the last one is written, so what a process that died has left
// is removed by the sweep, and the job begins again.

import { createHash } from "node:crypto";
import { type EpisodeReport, TrainingError, writeSet } from "@downlink/training";
import { type OutboxEvent, writeEvent } from "../../background/outbox/outbox.ts";
import type { Deps } from "../../calls/context/context.ts";
import { ApiError } from "../../core/errors.ts";
import type { DatasetMappingModel, TrainingSetModel } from "../../db/generated/models.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import type { ExportDeps } from "../exports/stream-selection.ts";
import { Identity } from "./identity.ts";
import { readMapping } from "./mapping-rows.ts";
import { type StoredFile, StoredFiles } from "./stored-files.ts";
import { openEpisode, readVersionEpisodes } from "./version-episodes.ts";

/** The file that says where a set comes from. It names ids, and so does not count for whether two sets are equal. */
export const ABOUT_PATH = "downlink.json";
/** So many episodes are kept in the row. */
const MAX_REPORTED = 1000;

type BuildDeps = ExportDeps & Pick<Deps, "db">;
type SetRow = TrainingSetModel & { readonly mapping: DatasetMappingModel };

/** Builds a set, unless it was deleted. A failure that is no shutdown is written into its row. */
export async function buildTrainingSet(deps: BuildDeps, setId: string, signal: AbortSignal): Promise<void> {
  const where = { id: setId, state: "building" } as const;
  const set = await deps.db.prisma.trainingSet.findFirst({ where, include: { mapping: true } });
  if (!set) return;
  const gone = new AbortController();
  const ended = AbortSignal.any([signal, gone.signal]);
  const files = new StoredFiles(deps, { orgId: set.orgId, signal: ended });
  try {
    const reports = await write(deps, { set, files, gone, signal: ended });
    if (!(await keep(deps, set, { files: files.files, reports }))) await files.remove();
  } catch (error) {
    await files.remove();
    signal.throwIfAborted();
    if (gone.signal.aborted) return;
    if (!isExpected(error)) deps.log.error({ err: error, setId }, "a training set was not built");
    await fail(deps, set, describe(error));
  }
}

function isExpected(error: unknown): error is Error {
  return error instanceof TrainingError || error instanceof ApiError;
}

function describe(error: unknown): string {
  return isExpected(error) ? error.message : "the set could not be built; the log of the service says why";
}

interface Writing {
  readonly set: SetRow;
  readonly files: StoredFiles;
  /** Aborted when the set was deleted. */
  readonly gone: AbortController;
  readonly signal: AbortSignal;
}

async function write(deps: BuildDeps, { set, files, gone, signal }: Writing): Promise<readonly EpisodeReport[]> {
  const { id, orgId, identity, datasetId, versionNumber, format } = set;
  return writeSet({
    ...{ format, signal },
    mapping: readMapping(set.mapping),
    episodes: { [Symbol.asyncIterator]: episodes },
    about: { format, identity, datasetId, versionNumber, mappingId: set.mappingId },
    open: files.open,
    onEpisode: async (episodesDone) => {
      const data = { episodesDone, sizeBytes: files.bytes };
      const { count } = await deps.db.prisma.trainingSet.updateMany({ where: { id, state: "building" }, data });
      if (count === 0) gone.abort(new Error("the training set was deleted"));
      signal.throwIfAborted();
    },
  });

  /** A version may have lost or found data since the set was asked for, which then is not built. */
  async function* episodes() {
    const found = new Identity({ format, datasetId, versionNumber, mapping: set.mapping.text });
    for await (const episode of readVersionEpisodes(deps, { orgId, datasetId, versionNumber })) {
      const isWhole = episode.missingIds.length === 0;
      if (!isWhole && !set.leavesOut)
        throw new TrainingError(
          `the recording ${episode.missingIds[0]} of the episode ${episode.id} is not here any more`,
        );
      if (!isWhole) continue;
      found.add(episode);
      yield openEpisode(deps, episode, { orgId, token: id, signal });
    }
    if (found.digest() !== identity)
      throw new TrainingError(
        "the data of the version, or the program, changed since the set was asked for; ask for it again",
      );
  }
}

async function fail({ db, clock }: BuildDeps, set: SetRow, failureText: string): Promise<void> {
  await withTransaction(db, async (tx) => {
    const where = { id: set.id, state: "building" } as const;
    const { count } = await tx.trainingSet.updateMany({ where, data: { state: "failed", failureText } });
    const payload = { trainingSet: shown(set), error: failureText };
    if (count > 0) await publish(tx, set, { type: "trainingSet.failed", occurredAtNs: clock.nowNs(), payload });
  });
}

function shown({ id, datasetId, versionNumber, format }: SetRow) {
  return { id, datasetId, versionNumber, format };
}

type Published = Pick<OutboxEvent, "type" | "occurredAtNs" | "payload">;

async function publish(tx: Transaction, { orgId, projectId }: SetRow, event: Published): Promise<void> {
  await writeEvent(tx, { ...event, orgId, projectId });
}

interface Built {
  readonly files: readonly StoredFile[];
  readonly reports: readonly EpisodeReport[];
}

/** Writes down that the set is ready. Returns false if it was deleted. */
async function keep({ db, clock }: BuildDeps, set: SetRow, { files, reports }: Built): Promise<boolean> {
  const report = reports.slice(0, MAX_REPORTED).map(({ parts: _, gaps: _gaps, kept: _kept, warnings, ...rows }) => {
    return { ...rows, warnings: warnings.map((warning) => ({ ...warning })) };
  });
  const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  const { id } = set;
  const manifestSha256 = manifestOf(files);
  const data = { state: "ready", manifestSha256, sizeBytes, report } as const;
  return withTransaction(db, async (tx) => {
    const { count } = await tx.trainingSet.updateMany({ where: { id, state: "building" }, data });
    if (count === 0) return false;
    await tx.trainingFile.createMany({ data: files.map((file) => ({ setId: id, ...file })) });
    const payload = { trainingSet: { ...shown(set), manifestSha256 } };
    await publish(tx, set, { type: "trainingSet.ready", occurredAtNs: clock.nowNs(), payload });
    return true;
  });
}

function manifestOf(files: readonly StoredFile[]): string {
  const lines = files
    .filter(({ path }) => path !== ABOUT_PATH)
    .sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
    .map(({ sha256, sizeBytes, path }) => `${sha256}  ${sizeBytes}  ${path}\n`);
  return createHash("sha256").update(lines.join("")).digest("hex");
}
