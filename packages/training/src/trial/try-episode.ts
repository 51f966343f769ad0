import type { TrainingMapping } from "@downlink/protocol";
import { type AlignedEpisode, alignEpisode } from "../align/align-episode.ts";
import { type Plan, planMapping } from "../align/plan.ts";
import { type Picture, readPictures } from "../align/read-pictures.ts";
import { readValues } from "../align/read-values.ts";
import { type Episode, TrainingError } from "../episodes/episode.ts";
import { describeFeatures } from "../lerobot/features.ts";
import { findWarnings } from "../lerobot/find-warnings.ts";
import { cutColumn, type SetColumn, taskOf, toRows } from "../lerobot/set-columns.ts";
import { describeEpisode, type EpisodeReport } from "../report/describe-episode.ts";
import { writeTables } from "../tables/write-tables.ts";

/** The values of a row by the names of their features. */
export type TrialRow = Readonly<Record<string, unknown>>;

export interface Trial {
  readonly report: EpisodeReport;
  /** Why no set can be built with the episode. */
  readonly problem: string | undefined;
  readonly task: string | undefined;
  readonly features: ReturnType<typeof describeFeatures>;
  readonly rows: readonly TrialRow[];
}

/** Makes tables of the topics of one episode, which go nowhere. Throws {@link TrainingError}. */
export async function tryTables(mapping: TrainingMapping, episode: Episode): Promise<Trial> {
  const open = () => ({ write: async () => undefined, close: async () => undefined });
  const [report] = await writeTables({ mapping, episodes: [episode], open, isTrial: true });
  return { report: report!, problem: undefined, task: undefined, features: {}, rows: [] };
}

/**
 * Aligns one episode, and reads its values and the pictures of its first rows; an episode that is left out has none. Throws
 * {@link TrainingError} where that cannot be done.
 */
export async function tryEpisode(mapping: TrainingMapping, episode: Episode, rowCount: number): Promise<Trial> {
  const plan = planMapping(mapping);
  const aligned = await alignEpisode(plan, episode);
  const none = { problem: undefined, task: undefined, features: {}, rows: [] };
  if (aligned.pieces.length === 0) return { ...none, report: describeEpisode(plan, aligned, []) };
  try {
    const values = await readValues(plan, aligned);
    const columns = aligned.pieces.map((piece) => values.map((column) => cutColumn(column, piece)));
    const report = describeEpisode(plan, aligned, findWarnings(columns.flat()));
    const rows = await readRows(plan, aligned, { columns: columns[0]!, rowCount });
    return { ...none, report, task: taskOf(plan, aligned), features: describeFeatures(plan, aligned), rows };
  } catch (error) {
    if (!(error instanceof TrainingError)) throw error;
    return { ...none, problem: error.message, report: describeEpisode(plan, aligned, []) };
  }
}

interface FirstRows {
  /** Those of the first piece. */
  readonly columns: readonly SetColumn[];
  readonly rowCount: number;
}

async function readRows(plan: Plan, aligned: AlignedEpisode, first: FirstRows): Promise<TrialRow[]> {
  const [piece] = aligned.pieces;
  const rowCount = Math.min(first.rowCount, piece!.rowCount);
  const values = new Map(first.columns.map((column) => [column.name, toRows(column, 0, rowCount)]));
  const cameras = plan.features.filter(({ dtype }) => dtype === "image").map(({ name }) => name);
  const pictures: Picture[][] = [];
  const shown = { ...aligned, pieces: [{ ...piece!, rowCount }] };
  if (cameras.length > 0) for await (const row of readPictures(plan, shown)) pictures.push(row);
  return Array.from({ length: rowCount }, (_, row) => {
    const entries = plan.features.map(({ name }) => {
      const camera = cameras.indexOf(name);
      return [name, camera >= 0 ? pictures[row]![camera] : values.get(name)![row]];
    });
    return Object.fromEntries(entries) as TrialRow;
  });
}
