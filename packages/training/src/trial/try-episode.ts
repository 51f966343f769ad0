import type { TrainingMapping } from "@downlink/protocol";
import { type AlignedEpisode, alignEpisode } from "../align/align-episode.ts";
import { type Plan, planMapping } from "../align/plan.ts";
import { type Picture, readPictures } from "../align/read-pictures.ts";
import { readValues } from "../align/read-values.ts";
import type { Episode } from "../episodes/episode.ts";
import { describeFeatures } from "../lerobot/features.ts";
import { cutColumn, taskOf, toRows } from "../lerobot/set-columns.ts";
import { describeEpisode, type EpisodeReport } from "../report/describe-episode.ts";

/** The values of a row by the names of their features. */
export type TrialRow = Readonly<Record<string, unknown>>;

export interface Trial {
  readonly report: EpisodeReport;
  readonly task: string | undefined;
  readonly features: ReturnType<typeof describeFeatures>;
  readonly rows: readonly TrialRow[];
}

/** Aligns one episode, and reads its first rows; an episode that is left out has none. Throws {@link TrainingError}. */
export async function tryEpisode(mapping: TrainingMapping, episode: Episode, rowCount: number): Promise<Trial> {
  const plan = planMapping(mapping);
  const aligned = await alignEpisode(plan, episode);
  const report = describeEpisode(plan, aligned);
  const [piece] = aligned.pieces;
  if (!piece) return { report, task: undefined, features: {}, rows: [] };
  const first = { firstRow: piece.firstRow, rowCount: Math.min(rowCount, piece.rowCount) };
  const rows = await readRows(plan, { ...aligned, pieces: [first] });
  return { report, task: taskOf(plan, aligned), features: describeFeatures(plan, aligned), rows };
}

async function readRows(plan: Plan, aligned: AlignedEpisode): Promise<TrialRow[]> {
  const [piece] = aligned.pieces;
  const numbers = (await readValues(plan, aligned)).map((column) => cutColumn(column, piece!));
  const values = new Map(numbers.map((column) => [column.name, toRows(column, 0, piece!.rowCount)]));
  const cameras = plan.features.filter(({ dtype }) => dtype === "image").map(({ name }) => name);
  const pictures: Picture[][] = [];
  if (cameras.length > 0) for await (const row of readPictures(plan, aligned)) pictures.push(row);
  return Array.from({ length: piece!.rowCount }, (_, row) => {
    const entries = plan.features.map(({ name }) => {
      const camera = cameras.indexOf(name);
      return [name, camera >= 0 ? pictures[row]![camera] : values.get(name)![row]];
    });
    return Object.fromEntries(entries) as TrialRow;
  });
}
